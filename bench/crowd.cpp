#include "agent/crowd.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "api/iprule_config.h"
#include "api/node_state.h"
#include "bench/measure.h"
#include "bench/seed.h"
#include "bench/settled_cluster.h"
#include "bench/stage.h"

// Ten thousand nodes hear of something at one instant: a change of which all of them report, or the power that is back.
// No machine like this carries as many agents; what each of them asks of the API server is asked here, at its turn.
namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int32_t kNodes = 10'000;
constexpr std::size_t kConnections = 125;  // A server takes 100 watches on each.
constexpr std::size_t kAtOnce = 256;       // Requests under way; more are late, and are counted so.
constexpr std::uint32_t kObjects = 100;
constexpr double kLongest = 1'000;  // Milliseconds.

const kube::Resource kReports{std::string(api::kGroup), "v1alpha1", std::string(api::NodeState::kPlural), false};
const kube::Resource kConfigs{std::string(api::kGroup), "v1alpha1", std::string(api::IPRuleConfig::kPlural), false};

class Crowd {
 public:
  // Milliseconds from a node's turn to the server's answer, of 99 in 100 nodes.
  base::Result<double> report() {
    TRY(gather());
    ++reports_;
    const auto turn = [](const std::string& node) { return agent::turn_of(node, kNodes); };
    return at_their_turns(turn, [this](std::int32_t node, kube::Client& client) -> base::Status {
      const std::string patch = fmt::format(
          R"([{{"op":"test","path":"/spec/token","value":"t"}},{{"op":"add","path":"/status","value":{{"token":"t",)"
          R"("bootID":"0f2c6d1e","sync":"InSync","counts":{{"rules":{0}}},"settled":[{{"kind":"IPRuleConfig","epoch":{0}}}]}}}}])",
          reports_);
      auto limit = kube::within(60s);
      limit.urgent = true;
      TRY(client.patch_status(kReports, {.ns = "", .name = node_name(static_cast<std::uint32_t>(node))},
                              kube::PatchType::json, patch, limit));
      return {};
    });
  }

  // The same until a node has all published objects; its watch stays open.
  base::Result<double> join() {
    TRY(gather());
    std::vector<std::optional<http::Stream>> watches(kNodes);
    const auto turn = [](const std::string& node) { return agent::boot_delay(node, kNodes, 1min); };
    return at_their_turns(turn, [&](std::int32_t node, kube::Client& client) -> base::Status {
      auto limit = kube::within(60s);
      limit.urgent = true;
      auto stream = TRY(client.watch(kConfigs, {.selection = {}, .initial = true}, limit));
      std::string text;
      while (!text.contains("k8s.io/initial-events-end")) {
        const auto bytes = TRY(stream.read(limit.deadline, {}));
        if (bytes.empty()) return base::fail(base::Fault::unavailable, "the list ended early");
        text += bytes;
      }
      watches[static_cast<std::size_t>(node)] = std::move(stream);
      return {};
    });
  }

 private:
  base::Status gather() {
    if (stage_) return {};
    clients_.clear();  // Of a try that failed.
    auto stage = TRY(Stage::build());
    Seed seed(stage->cluster());
    TRY(seed.put(settled_cluster(kObjects, 10, 1)));
    TRY(seed.put_reports(kNodes));
    const auto config = TRY(kube::from_kubeconfig({stage->cluster().admin_kubeconfig()}, ""));
    for (std::size_t i = 0; i < kConnections; ++i) {
      clients_.push_back(TRY(kube::Client::connect(config, {.user_agent = "crowd"})));
      TRY(clients_.back()->get(kReports, {.ns = "", .name = node_name(0)}, kube::within(30s)));
    }
    // The server says "too many" until it has read the objects itself.
    const auto until = Clock::now() + 60s;
    while (!clients_.front()->watch(kConfigs, {.selection = {}, .initial = true}, kube::within(30s))) {
      if (Clock::now() > until) return base::fail(base::Fault::timeout, "the server does not get ready");
      std::this_thread::sleep_for(100ms);
    }
    stage_ = std::move(stage);
    return {};
  }

  template <typename Turn, typename Act>
  base::Result<double> at_their_turns(Turn turn, Act act) {
    std::vector<std::pair<base::Duration, std::int32_t>> turns;
    for (std::int32_t i = 0; i < kNodes; ++i) turns.emplace_back(turn(node_name(static_cast<std::uint32_t>(i))), i);
    std::ranges::sort(turns);
    std::vector<double> waits(turns.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<base::Error> error;
    const auto start = Clock::now();
    const auto work = [&] {
      for (std::size_t i = next++; i < turns.size(); i = next++) {
        const auto due = start + turns[i].first;
        std::this_thread::sleep_until(due);
        if (const auto done = act(turns[i].second, *clients_[i % kConnections]); !done) {
          const std::lock_guard lock(mutex);
          error = done.error();
          next = turns.size();
        }
        waits[i] = std::chrono::duration<double, std::milli>(Clock::now() - due).count();
      }
    };
    {
      std::vector<std::jthread> workers;
      for (std::size_t i = 0; i < kAtOnce; ++i) workers.emplace_back(work);
    }
    if (error) return std::unexpected(*error);
    const auto at = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() * 99 / 100);
    std::ranges::nth_element(waits, at);
    return *at;
  }

  std::unique_ptr<Stage> stage_;
  std::vector<std::unique_ptr<kube::Client>> clients_;
  int reports_ = 0;
};

}  // namespace

Group crowd_group() {
  const auto crowd = std::make_shared<Crowd>();
  return {.name = "crowd",
          .promises = {{.name = "10,000 nodes report the same change, wait for the server, p99",
                        .ours = [=] { return crowd->report(); },
                        .budget = kLongest,
                        .rounds = 1},
                       {.name = "10,000 nodes boot together, wait for 100 published objects, p99",
                        .ours = [=] { return crowd->join(); },
                        .budget = kLongest,
                        .rounds = 1}}};
}

}  // namespace bench
