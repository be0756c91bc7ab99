#include "testbed/cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/kubernetes.h"
#include "testbed/web_token.h"

namespace testbed {

// Prints the logs' ends when a test that used the cluster has failed.
class Cluster::LogPrinter final : public testing::EmptyTestEventListener {
 public:
  explicit LogPrinter(const Cluster& cluster) : cluster_(cluster) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    for (const Part& part : cluster_.parts()) fmt::print("---- end of {}'s log\n{}", part.name(), part.log_tail());
    fmt::print("---- end of logs\n");
    std::fflush(stdout);
  }

 private:
  const Cluster& cluster_;
};

Cluster::~Cluster() {
  if (printer_ != nullptr) delete testing::UnitTest::GetInstance()->listeners().Release(printer_);
}

base::Result<std::unique_ptr<Cluster>> Cluster::start(ClusterOptions options) {
  std::unique_ptr<Cluster> cluster(new Cluster(TRY(kubernetes_program())));
  TRY(cluster->begin(options.api_server_flags));
  if (options.controller_manager) TRY(cluster->add_controller_manager(options.controller_manager_flags).restart());
  if (options.scheduler) TRY(cluster->add_scheduler().restart());

  cluster->printer_ = new LogPrinter(*cluster);
  testing::UnitTest::GetInstance()->listeners().Append(cluster->printer_);
  return cluster;
}

Part& Cluster::add_controller_manager(const std::vector<std::string>& more_flags) {
  const std::uint16_t port = free_port();
  const std::string access = admin_kubeconfig().native();
  std::vector<std::string> flags{"--kubeconfig=" + access,
                                 "--authentication-kubeconfig=" + access,
                                 "--authorization-kubeconfig=" + access,
                                 fmt::format("--secure-port={}", port),
                                 "--bind-address=127.0.0.1",
                                 "--tls-cert-file=" + file("server.crt"),
                                 "--tls-private-key-file=" + file("server.key"),
                                 "--service-account-private-key-file=" + file("service-accounts.key"),
                                 "--root-ca-file=" + file("ca.crt"),
                                 "--use-service-account-credentials",
                                 "--leader-elect=false",
                                 "--node-monitor-period=1s",
                                 "--node-monitor-grace-period=8s"};
  std::ranges::copy(more_flags, std::back_inserter(flags));
  return add_part("kube-controller-manager", std::move(flags), [this, port] {
    const auto health = ask(endpoint_of(port), "/healthz");
    return health && health->status == 200;
  });
}

Part& Cluster::add_scheduler() {
  const std::uint16_t port = free_port();
  const std::string access = admin_kubeconfig().native();
  return add_part(
      "kube-scheduler",
      {"--kubeconfig=" + access, "--authentication-kubeconfig=" + access, "--authorization-kubeconfig=" + access,
       fmt::format("--secure-port={}", port), "--bind-address=127.0.0.1", "--tls-cert-file=" + file("server.crt"),
       "--tls-private-key-file=" + file("server.key"), "--leader-elect=false"},
      [this, port] {
        const auto health = ask(endpoint_of(port), "/healthz");
        return health && health->status == 200;
      });
}

base::Result<Credentials> Cluster::service_account_for(const std::string& name_space, const std::string& name,
                                                       std::chrono::seconds lifetime) {
  constexpr auto kLeeway = std::chrono::minutes(1);
  const std::string uid =
      TRY(kubectl({"get", "serviceaccount", name, "--namespace=" + name_space, "-o", "jsonpath={.metadata.uid}"}));
  const std::string key = TRY(base::read_file(file("service-accounts.key")));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch();
  const std::string claims =
      fmt::format(R"({{"iss":"{0}","aud":["{0}"],"sub":"system:serviceaccount:{1}:{2}","iat":{3},"exp":{4},)"
                  R"("kubernetes.io":{{"namespace":"{1}","serviceaccount":{{"name":"{2}","uid":"{5}"}}}}}})",
                  kIssuer, name_space, name, (now - kLeeway).count(), (now + lifetime - kLeeway).count(), uid);
  return Credentials{.token = web_token(claims, key)};
}

std::filesystem::path Cluster::kubeconfig(const Credentials& credentials, std::string url) {
  auto path = write_kubeconfig(credentials, std::move(url));
  if (path) return *std::move(path);
  ADD_FAILURE() << path.error().message();
  return {};
}

base::Result<Cluster::SecondApiServer> Cluster::add_api_server(std::uint16_t etcd_port,
                                                               std::vector<std::string> more_flags) {
  const std::uint16_t port = free_port();
  std::vector<std::string> flags = std::move(more_flags);  // Of a flag given twice, the last counts.
  if (etcd_port != 0) flags.push_back(fmt::format("--etcd-servers=http://127.0.0.1:{}", etcd_port));
  Part& part = add_api_server_part(fmt::format("kube-apiserver-{}", port), port, flags);
  TRY(part.restart());
  return SecondApiServer{.part = &part, .url = url_of(port), .port = port};
}

base::Status Cluster::compact() {
  // etcd's JSON gateway; any read tells the current revision.
  const Answer now = TRY(ask({.port = etcd_port()}, "/v3/kv/range", R"({"key":"AA=="})"));
  constexpr std::string_view kRevision = R"("revision":")";
  const std::size_t at = now.body.find(kRevision);
  if (at == std::string::npos) return base::fail(base::Fault::unavailable, "etcd: " + now.body);
  const std::size_t from = at + kRevision.size();
  const std::string revision = now.body.substr(from, now.body.find('"', from) - from);
  const Answer done = TRY(
      ask({.port = etcd_port()}, "/v3/kv/compaction", fmt::format(R"({{"revision":"{}","physical":true}})", revision)));
  if (done.status != 200) return base::fail(base::Fault::unavailable, "etcd: " + done.body);
  return {};
}

base::Status Cluster::save_storage() {
  etcd().kill();
  std::error_code failed;
  std::filesystem::copy(file("etcd"), file("etcd-saved"), std::filesystem::copy_options::recursive, failed);
  if (failed) return base::fail(base::Fault::unavailable, "save etcd: " + failed.message());
  TRY(etcd().restart());
  return api_server().restart();
}

base::Status Cluster::restore_storage() {
  api_server().kill();
  etcd().kill();
  std::error_code failed;
  std::filesystem::remove_all(file("etcd"), failed);
  if (!failed) std::filesystem::rename(file("etcd-saved"), file("etcd"), failed);
  if (failed) return base::fail(base::Fault::unavailable, "restore etcd: " + failed.message());
  TRY(etcd().restart());
  return api_server().restart();
}

Cluster& shared_cluster() {
  static const std::unique_ptr<Cluster> cluster = [] {
    auto started = Cluster::start();
    if (started) return *std::move(started);
    fmt::print(stderr, "no cluster for the tests: {}\n", started.error().message());
    std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe)
  }();
  return *cluster;
}

}  // namespace testbed
