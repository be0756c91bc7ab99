// fleet KUBECONFIG FIRST COUNT: agents of the nodes node-FIRST and so on, each with its own connection, watches and
// reports as iprule-agent has them. Only the kernel is left out: it always is as wanted.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "agent/cluster_source.h"
#include "agent/findings.h"
#include "agent/reporter.h"
#include "kube/client.h"
#include "kube/config.h"
#include "runtime/shutdown.h"
#include "runtime/signal.h"

namespace {

class Member {
 public:
  Member(std::unique_ptr<kube::Client> client, const std::string& node)
      : client_(std::move(client)),
        source_(*client_, node, {}, "default", changed_),
        reporter_(*client_, node),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      look();
      (void)changed_.wait(stop, std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
  }
  void look() {
    auto wanted = source_.latest(
        {.kernel = &kernel_, .facts = facts_, .verified = true, .now = std::chrono::steady_clock::now()});
    if (!wanted) return;
    kernel_ = wanted->state;
    agent::Pass pass{.wanted = *std::move(wanted), .own_rules = kernel_.rules.size()};
    pass.report.after = state::Verified{kernel_};
    if (auto found = agent::findings(source_.basis(), std::optional(std::move(pass)), identity_)) {
      reporter_.note(*std::move(found));
    }
  }

  runtime::Signal changed_;
  std::unique_ptr<kube::Client> client_;
  agent::NodeIdentity identity_ = agent::NodeIdentity::of_this_node();
  state::NodeFacts facts_;
  state::NetState kernel_;
  agent::ClusterSource source_;
  agent::Reporter reporter_;
  std::jthread thread_;  // Last: it uses all of the above.
};

base::Status run(const std::string& kubeconfig, std::uint32_t first, std::uint32_t count, std::stop_token stop) {
  const auto config = TRY(kube::load_config(kubeconfig, "", {}));
  std::vector<std::unique_ptr<Member>> members;
  for (std::uint32_t i = first; i < first + count && !stop.stop_requested(); ++i) {
    auto client = TRY(kube::Client::connect(config, {.user_agent = "fleet"}));
    members.push_back(std::make_unique<Member>(std::move(client), fmt::format("node-{}", i)));
  }
  runtime::Signal never;
  while (!stop.stop_requested()) (void)never.wait(stop, std::chrono::steady_clock::now() + std::chrono::hours(1));
  std::_Exit(0);  // Thousands of threads need not be ended one by one.
}

}  // namespace

int main(int count, char** argv) {
  if (count != 4) {
    fmt::print(stderr, "usage: fleet KUBECONFIG FIRST COUNT\n");
    return 2;
  }
  runtime::Shutdown shutdown;
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  const auto done = run(argv[1], number(2), number(3), shutdown.token());
  if (!done) fmt::print(stderr, "fleet: {}\n", done.error().message());
  return done ? 0 : 1;
}
