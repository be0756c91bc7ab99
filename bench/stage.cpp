#include "bench/stage.h"

#include <fmt/format.h>

#include "base/file.h"

namespace bench {

base::Result<std::unique_ptr<Stage>> Stage::build() {
  std::unique_ptr<Stage> out(new Stage());
  out->cluster_ = TRY(testbed::Cluster::start());
  TRY(out->cluster_->kubectl({"create", "-f", IPRULE_SOURCE_DIR "/config/crd/bases"}));
  TRY(out->cluster_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  const auto config = TRY(kube::from_kubeconfig({out->access()}, ""));
  out->client_ = TRY(kube::Client::connect(config, {.user_agent = "bench"}, {.rate = 10'000, .burst = 10'000}));
  out->world_.emplace(TRY(lab::World::make()));
  return out;
}

base::Status Stage::create(std::string_view manifest) {
  TRY(cluster_->kubectl({"create", "-f", "-"}, std::string(manifest)));
  return {};
}

base::Result<lab::Host*> Stage::add_host(const std::string& name) {
  lab::Host* const host = TRY(world_->add_host(name));
  TRY(world_->plug(*host, "eth0", world_->here(), name, cluster_->bridge()));
  // 172.30.77.1 is the API server's; the first node's is 172.30.77.11.
  TRY(host->add_address(
      "eth0", lab::InterfaceAddress::of(fmt::format("{}{}/24", cluster_->address().text(), world_->host_count()))));
  return host;
}

Stage::Requests Stage::requests_of(std::string_view user_agent) const {
  constexpr std::size_t kMostLog = std::size_t{1} << 30U;
  const std::string log = base::read_file(cluster_->audit_log(), kMostLog).value_or("");
  const std::string name = fmt::format(R"("userAgent":"{})", user_agent);
  Requests out;
  for (std::size_t at = 0, end = log.find('\n'); end != std::string::npos; at = end + 1, end = log.find('\n', at)) {
    const std::string_view line = std::string_view(log).substr(at, end - at);
    if (!line.contains(name)) continue;
    if (!line.contains(R"("verb":"watch")")) {
      ++out.others;
    } else if (!line.contains(R"("stage":"ResponseComplete")")) {  // It is told of twice: at its start and its end.
      ++out.watches;
    }
  }
  return out;
}

}  // namespace bench
