// The controller killed before and after every write that the service rules make, in three workloads: what is there in
// the end, and what was written to get there, is as if nothing had happened. Of each kind of write the first and the
// last are tried; with IPRULE_LONG=1, all.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.h"
#include "controller/cluster_script.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "testbed/process.h"

namespace controller_test {
namespace {

using testbed::CallMatch;
using testbed::eventually;
using testbed::FaultProxy;
using testbed::Process;

constexpr int kServiceCount = 10;

constexpr std::size_t kOrders = 4;  // The first of these; the rest is written for people.
// The faces a status shows, at most, on the way from one state to the next: none of two nodes, one, both.
constexpr int kFaces = 3;
// Each kind of write that these workloads lead to. Those of the roll-out (DaemonSets, statuses of Agents) and of the
// Lease are not among them; nor is the series of an Event, which is written a minute after the Event at the earliest.
const std::vector<CallMatch> kWrites = {
    {.verb = "create", .resource = "ipruleconfigs"},
    {.verb = "update", .resource = "ipruleconfigs"},
    {.verb = "delete", .resource = "ipruleconfigs"},
    {.verb = "create", .resource = "nodestates"},
    {.verb = "update", .resource = "ipruleconfigs/status"},
    {.verb = "update", .resource = "iprules/status"},
    {.verb = "create", .resource = "events"},
};

struct Workload {
  std::string name;
  std::function<void(ClusterScript&)> prepare;  // And let it settle.
  std::function<void(ClusterScript&)> work;
  std::size_t configs_after;
  std::uint32_t table_after;
  bool has_rule_after = true;
};

void create_services(ClusterScript& script) {
  for (int i = 1; i <= kServiceCount; ++i) {
    const std::string n = std::to_string(i);
    script.put_service("web-" + n, "203.0.113." + n, "10.96.77." + n);
  }
}
void put_rule(ClusterScript& script, int table) {
  script.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":)" + std::to_string(table) + R"(,"priority":1500})");
}

const std::vector<Workload> kWorkloads = {
    {.name = "services created",
     .prepare = [](ClusterScript& script) { put_rule(script, 120); },
     .work = create_services,
     .configs_after = kServiceCount,
     .table_after = 120},
    {.name = "rule edited",
     .prepare =
         [](ClusterScript& script) {
           put_rule(script, 120);
           create_services(script);
         },
     .work = [](ClusterScript& script) { put_rule(script, 121); },
     .configs_after = kServiceCount,
     .table_after = 121},
    {.name = "everything deleted",
     .prepare =
         [](ClusterScript& script) {
           put_rule(script, 120);
           create_services(script);
         },
     .work =
         [](ClusterScript& script) {
           for (int i = 1; i <= kServiceCount; ++i) script.delete_service("web-" + std::to_string(i));
           script.delete_rule("blue");
         },
     .configs_after = 0,
     .table_after = 0,
     .has_rule_after = false},
};

class CrashPoints : public testing::TestWithParam<Workload> {
 protected:
  using Writes = std::vector<int>;  // As in kWrites.

  struct Crash {
    std::size_t kind;
    int skip;
    bool is_before;  // Else the server has done it, and nobody hears.
  };
  struct Outcome {
    Writes writes;      // Those that reached the server.
    std::string state;  // What is there in the end, but for times and versions.
  };

  static kube::Config admin_config() {
    return api_test::must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }
  Process start_controller() {
    return api_test::must(Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", kubeconfig_.native(),
                                                        "--health-probe-bind-address=0", "--absent-delay=0s"}}));
  }
  Writes count() const {
    Writes out;
    for (const CallMatch& match : kWrites) out.push_back(proxy_.calls(match));
    return out;
  }
  static bool is_settled(ClusterScript& script, std::size_t configs, std::uint32_t table, bool has_rule = true) {
    const auto all = script.configs();
    if (all.size() != configs) return false;
    for (const auto& config : all) {
      const auto* applied = meta::find(config.status.conditions, "Applied");
      const bool is_right = config.spec.state == api::ConfigState::present && config.spec.table == table &&
                            applied != nullptr && applied->status == meta::Truth::yes &&
                            config.status.observed_generation == config.meta.generation;
      if (!is_right) return false;
    }
    if (!has_rule) return true;
    return script.rule("blue").status.matched_vips == static_cast<int>(configs) &&
           script.condition("blue", "Programmed") == (configs > 0 ? "True AllNodes" : "False NoMatch");
  }

  static std::string text(std::vector<meta::Condition> conditions) {
    std::string out;
    std::ranges::sort(conditions, {}, &meta::Condition::type);
    for (const auto& one : conditions) {
      out += fmt::format("  {}={} {}: {}\n", one.type, meta::text(one.status), one.reason, one.message);
    }
    return out;
  }
  // Everything that the controller has published and said.
  static std::string end_state(ClusterScript& script, bool has_rule) {
    std::string out;
    for (const api::IPRuleConfig& config : script.configs()) {
      out += fmt::format("{} {} -> {} p{} {}\n", config.meta.name, config.spec.service_ip, config.spec.table,
                         config.spec.priority, config.meta.annotations.get(api::kSpecHash));
      for (const auto& owner : config.meta.owners) out += fmt::format("  owner {}\n", owner.name);
      out += text(config.status.conditions);
    }
    if (!has_rule) return out;
    const api::IPRule rule = script.rule("blue");
    return out + fmt::format("blue, {} VIPs\n", rule.status.matched_vips) + text(rule.status.conditions);
  }
  // Whether the workload cannot end without this write. How many statuses and Events it takes is a matter of pace, but
  // the first always comes; that of a status only where its object stays: what is deleted at once gets none.
  static bool comes_always(const Workload& workload, const Crash& crash) {
    if (crash.kind < kOrders) return true;
    const bool is_status = kWrites[crash.kind].resource.ends_with("/status");
    return crash.skip == 0 && (workload.has_rule_after || !is_status);
  }
  // Those of a kind that are tried: (how many before it, whether before or after it).
  static std::vector<std::pair<int, bool>> points(int writes) {
    std::vector<std::pair<int, bool>> all;
    for (int skip = 0; skip < writes; ++skip) {
      all.emplace_back(skip, true);
      all.emplace_back(skip, false);
    }
    if (std::getenv("IPRULE_LONG") != nullptr || all.size() <= 2) return all;  // NOLINT(concurrency-mt-unsafe)
    return {all.front(), all.back()};
  }

  // Runs the workload, without a crash or with one; then until what is there is what is there without.
  Outcome run(const Workload& workload, std::optional<Crash> crash = {}, const std::string& wanted = {}) {
    script_.forget_rules();
    workload.prepare(script_);
    Process controller = start_controller();
    const ObedientAgents agents(script_);
    const bool is_first = workload.name == "services created";
    EXPECT_TRUE(eventually("settled before", api_test::kBound, [&] {
      return script_.states().size() == 2 && is_settled(script_, is_first ? 0 : kServiceCount, 120);
    })) << controller.output();

    const Writes before = count();
    if (crash) {
      const auto& match = kWrites[crash->kind];
      if (crash->is_before) {
        proxy_.inject(match, testbed::fault::KillBefore{controller.pid()}, {.skip = crash->skip, .count = 1});
      } else {
        proxy_.inject(match, testbed::fault::KillAfter{controller.pid()}, {.skip = crash->skip, .count = 1});
      }
    }
    workload.work(script_);
    bool has_crashed = false;
    EXPECT_TRUE(eventually("settled after", api_test::kBound, [&] {
      if (!controller.running()) {
        has_crashed = true;
        controller = start_controller();
      }
      return is_settled(script_, workload.configs_after, workload.table_after, workload.has_rule_after) &&
             (wanted.empty() || end_state(script_, workload.has_rule_after) == wanted);
    })) << controller.output();
    // The last order of all: it was done, and all was right already.
    if (crash && !has_crashed && comes_always(workload, *crash)) {
      EXPECT_TRUE(eventually("the write was made", api_test::kBound, [&] { return !controller.running(); }));
    }
    proxy_.heal();
    Outcome out{.writes = count(), .state = end_state(script_, workload.has_rule_after)};
    for (std::size_t i = 0; i < out.writes.size(); ++i) out.writes[i] -= before[i];
    if (crash && crash->is_before) --out.writes[crash->kind];  // That one never reached the server.
    return out;
  }

  void SetUp() override {
    script_.add_agent();
    script_.add_node("n1");
    script_.add_node("n2");
  }

  ClusterScript script_;
  FaultProxy proxy_{admin_config().server, api_test::must(admin_config().tls())};
  std::filesystem::path kubeconfig_ = proxy_.kubeconfig();
};

TEST_P(CrashPoints, B1_B2_a_crash_at_any_write_changes_nothing_in_the_end) {
  const Outcome clean = run(GetParam());
  int crashes = 0;
  for (std::size_t kind = 0; kind < kWrites.size(); ++kind) {
    for (const auto& [skip, is_before] : points(clean.writes[kind])) {
      SCOPED_TRACE(fmt::format("{} {} {} of {} {}", is_before ? "before" : "after", kWrites[kind].verb, skip + 1,
                               clean.writes[kind], kWrites[kind].resource));
      const Outcome outcome = run(GetParam(), Crash{kind, skip, is_before}, clean.state);
      EXPECT_EQ(outcome.state, clean.state);
      for (std::size_t i = 0; i < kOrders; ++i) {
        EXPECT_EQ(outcome.writes[i], clean.writes[i]) << kWrites[i].verb << " " << kWrites[i].resource;
      }
      // How many statuses and Events it takes is a matter of pace, with a crash or without; but a face is never shown
      // twice, and each Event at most once by each controller.
      for (std::size_t i = kOrders; i < kWrites.size(); ++i) {
        EXPECT_LE(outcome.writes[i], kFaces * (clean.writes[0] + clean.writes[2] + 1)) << kWrites[i].resource;
      }
      ++crashes;
      if (HasFailure()) return;
    }
  }
  fmt::print("{}: {} crashes\n", GetParam().name, crashes);
  EXPECT_GE(crashes, 4);  // Two kinds of writes at least; what is deleted at once gets no status.
}

INSTANTIATE_TEST_SUITE_P(Workloads, CrashPoints, testing::ValuesIn(kWorkloads), [](const auto& test) {
  std::string name = test.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

}  // namespace
}  // namespace controller_test
