// The protocol by which objects come and go, explored exhaustively for two nodes and one object: every order of user,
// two controllers, two agents, crashes, stale views and a storage that is restored from a backup. What decides is the
// real code; only the API server and the kernels are models.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "intent/cluster/report_trust.h"
#include "intent/cluster/small_cluster.h"

namespace intent {
namespace {

using Settled = api::NodeState::Settled;

constexpr std::size_t kNodes = 2;
const std::array<std::string, kNodes> kNames = {"n1", "n2"};

// What never changes.
struct Scenery {
  Sample wishes;
  std::deque<api::Node> nodes;
  std::deque<api::Pod> pods;

  Scenery() {
    wishes.rule("blue", {"203.0.113.0/24"}, 120, 1500);
    wishes.service("web", {"10.96.0.1"}, {"203.0.113.5"});
    for (const std::string& name : kNames) {
      nodes.emplace_back().meta = {.name = name, .uid = "uid-" + name};
      api::Pod& pod = pods.emplace_back();
      pod.node_name = name;
      pod.reports = pod.is_ready = true;
    }
  }
};

struct AgentModel {
  // The kernel: survives the agent.
  bool holds = false;
  // The agent's memory.
  bool has_view = false;
  bool is_applied = false;  // The kernel was made and read back as the view says.
  std::uint64_t version = 0;
  std::uint64_t largest_epoch = 0;
  bool wants = false;
  std::string token;
  Settled last;  // What it takes the server to hold.

  // A restored storage cuts all streams; what was seen through them says nothing about it.
  void lose_stream() { is_applied = false; }
  void crash() {
    const bool kernel = holds;
    *this = {};
    holds = kernel;
  }
  void look(const SmallServer& server, const std::string& name) {
    has_view = true;
    is_applied = false;
    version = server.version;
    largest_epoch = 0;
    wants = false;
    for (const auto& [key, config] : server.configs) {
      largest_epoch = std::max(largest_epoch, api::epoch(config));
      wants = wants || config.spec.state == api::ConfigState::present;
    }
    const auto state = server.states.find(name);
    token = state != server.states.end() ? state->second.spec.token : "";
    const bool is_answered = state != server.states.end() && state->second.status.token == token;
    // What the server holds, not what it was once given: a restored storage has forgotten that.
    last = is_answered ? state->second.status.settled.front() : Settled{.kind = std::string(api::IPRuleConfig::kKind)};
  }
  void apply() {
    holds = wants;
    is_applied = true;
  }
  void report(SmallServer& server, const std::string& name) {
    const Settled next = next_report(
        last, {.is_complete = has_view, .is_verified = is_applied, .version = version, .largest_epoch = largest_epoch});
    if (token.empty() || next == last) return;
    last = next;
    server.report(name, token, next);
  }
};

struct ControllerModel {
  std::optional<SmallServer> view;
  bool wants = false;  // As it saw the user's wish.
  ReportTrust trust;
  std::uint64_t newest_seen = 0;  // Only for the key of the state.

  void crash() { *this = {}; }
};

struct World {
  SmallServer server;
  bool wanted = true;
  std::array<AgentModel, kNodes> agents;
  std::array<ControllerModel, 2> controllers;
  std::optional<SmallServer> backup;
  int turns = 0;
  int restores = 0;
  int controller_crashes = 0;
  int agent_crashes = 0;
  int tokens = 0;
  std::string broken;  // What must never happen, if it has.
};

// Whether a write decided on this would be taken.
bool is_current(const World& world, const api::NodeState& state) {
  const auto now = world.server.states.find(state.meta.name);
  return now != world.server.states.end() && now->second.meta.resource_version == state.meta.resource_version;
}

// A state by its meaning: versions count by their order only.
std::string key_of(const World& world) {
  std::vector<std::pair<char, std::uint64_t>> fields;
  std::map<std::string, std::uint64_t> names;
  const auto plain = [&](std::uint64_t value) { fields.emplace_back('p', value); };
  const auto version = [&](std::uint64_t value) { fields.emplace_back('v', value); };
  const auto name = [&](const std::string& text) { plain(names.try_emplace(text, names.size()).first->second); };
  const auto server = [&](const SmallServer& one) {
    version(one.version);
    plain(one.configs.size());
    for (const auto& [key, config] : one.configs) {
      name(config.meta.uid);
      plain(static_cast<std::uint64_t>(config.spec.state));
      version(std::stoull(config.meta.resource_version));
      version(api::epoch(config));
      plain(config.status.observed_generation == config.meta.generation ? 1 : 0);
      plain(config.status.conditions.size());
    }
    for (const auto& [key, state] : one.states) {
      name(state.spec.token);
      name(state.status.token);
      plain(is_current(world, state) ? 1 : 0);
      version(stated_epoch(state));
    }
  };
  server(world.server);
  plain(world.wanted ? 1 : 0);
  for (const AgentModel& agent : world.agents) {
    plain((agent.holds ? 1 : 0) + (agent.has_view ? 2 : 0) + (agent.is_applied ? 4 : 0) + (agent.wants ? 8 : 0));
    version(agent.version);
    version(agent.largest_epoch);
    name(agent.token);
    version(static_cast<std::uint64_t>(agent.last.epoch));
  }
  for (const ControllerModel& controller : world.controllers) {
    plain((controller.view ? 1 : 0) + (controller.wants ? 2 : 0));
    version(controller.newest_seen);
    if (controller.view) server(*controller.view);
  }
  plain(world.backup ? 1 : 0);
  if (world.backup) server(*world.backup);
  for (const int count : {world.turns, world.restores, world.controller_crashes, world.agent_crashes}) {
    plain(static_cast<std::uint64_t>(count));
  }
  std::map<std::uint64_t, std::size_t> ranks;
  for (const auto& [kind, value] : fields) {
    if (kind == 'v') ranks[value] = 0;
  }
  std::size_t next = 0;
  for (auto& [value, rank] : ranks) rank = next++;
  std::string out;
  for (const auto& [kind, value] : fields) out += static_cast<char>(kind == 'v' ? ranks[value] : value);
  return out;
}

class Model {
 public:
  struct Limits {
    int turns;
    bool has_second_leader = false;
    int controller_crashes = 0;
    int agent_crashes = 0;
    int restores = 0;
  };
  explicit Model(const Limits& limits) : limits_(limits) {}

  // Explores everything; the number of states. Stops at the first that must not be.
  std::size_t explore() {
    World first;
    for (const auto& name : kNames) {
      api::NodeState state;
      state.meta = {.name = name,
                    .owners = {{.api_version = "v1", .kind = "Node", .name = name, .uid = "uid-" + name}}};
      state.spec.token = "t";
      first.server.apply(NodeStateWrite{.step = NodeStateWrite::Step::create, .object = state});
    }
    push(first, "start");
    while (!open_.empty() && !HasFailure()) {
      const std::size_t at = open_.back();
      open_.pop_back();
      const World world = std::move(worlds_.extract(at).mapped());
      if (at % kSample == 0) check_end(world, at);
      expand(world, at);
    }
    return trace_.size();
  }

 private:
  static constexpr int kAll = 100;            // Writes of one pass.
  static constexpr std::size_t kSample = 97;  // Every so many-th state is also run to its end.

  static bool HasFailure() { return testing::Test::HasFailure(); }

  void push(World world, std::string step, std::size_t from = 0) {
    if (!world.broken.empty()) {
      ADD_FAILURE() << world.broken << " after:" << story(from) << "\n  " << step;
      return;
    }
    if (!seen_.insert(key_of(world)).second) return;
    trace_.push_back({from, std::move(step)});
    worlds_[trace_.size() - 1] = std::move(world);
    open_.push_back(trace_.size() - 1);
  }

  std::string story(std::size_t at) const {
    std::string out;
    for (; at != 0; at = trace_[at].first) out = "\n  " + trace_[at].second + out;
    return out;
  }

  void expand(const World& world, std::size_t from) {
    const auto step = [&](std::string name, auto change) {
      World next = world;
      change(next);
      push(std::move(next), std::move(name), from);
    };
    if (world.turns < limits_.turns) {
      step("user turns", [](World& next) {
        next.wanted = !next.wanted;
        ++next.turns;
      });
    }
    step("controller passes", [&](World& next) {
      look(next, 0);
      act(next, 0, kAll);
    });
    if (world.controller_crashes < limits_.controller_crashes) {
      step("controller crashes after its first write", [&](World& next) {
        look(next, 0);
        act(next, 0, 1);
        next.controllers[0].crash();
        ++next.controller_crashes;
      });
    }
    // One that believes it leads still, and acts late on what it saw.
    if (limits_.has_second_leader) {
      step("second leader looks", [&](World& next) { look(next, 1); });
      if (world.controllers[1].view) step("second leader acts", [&](World& next) { act(next, 1, kAll); });
    }
    if (limits_.restores > 0) expand_storage(world, step);
    for (std::size_t i = 0; i < kNodes; ++i) {
      step("agent " + kNames[i] + " looks and applies", [&](World& next) {
        next.agents[i].look(next.server, kNames[i]);
        next.agents[i].apply();
      });
      if (world.agents[i].has_view) {
        step("agent " + kNames[i] + " reports", [&](World& next) { next.agents[i].report(next.server, kNames[i]); });
      }
      if (world.agent_crashes < limits_.agent_crashes) {
        step("agent " + kNames[i] + " crashes", [&](World& next) {
          next.agents[i].crash();
          ++next.agent_crashes;
        });
      }
    }
  }

  void expand_storage(const World& world, const auto& step) const {
    if (!world.backup) step("backup", [](World& next) { next.backup = next.server; });
    if (world.backup && world.restores < limits_.restores) {
      step("storage goes back", [](World& next) {
        const int made = next.server.made;
        next.server = *next.backup;
        next.server.made = made;  // A uid is never given twice.
        for (AgentModel& agent : next.agents) agent.lose_stream();
        ++next.restores;
      });
    }
  }

  static void look(World& world, std::size_t i) {
    ControllerModel& controller = world.controllers[i];
    controller.view = world.server;
    controller.wants = world.wanted;
    controller.newest_seen = world.server.version;
    const auto states = values_of(controller.view->states);
    controller.trust.saw(controller.view->version, states);
  }

  // Does the first so many writes of what it decides on its view.
  void act(World& world, std::size_t i, int writes) {
    ControllerModel& controller = world.controllers[i];
    const SmallServer& view = *controller.view;
    const auto states = values_of(view.states);
    if (controller.trust.must_ask(states)) controller.trust.asked(world.server.version);
    const Decision decision =
        decide(view, controller.wants, fmt::format("t{}", world.tokens++), controller.trust.distrusted(states));
    for (const auto& write : decision.states) {
      if (writes-- > 0) world.server.apply(write);
    }
    for (const auto& write : decision.configs) {
      if (writes-- <= 0) continue;
      const bool is_done = world.server.apply(write);
      if (is_done && write.step == Write::Step::remove) check_removal(world);
    }
    for (const auto& write : decision.config_statuses) {
      if (writes-- > 0) world.server.apply(write);
    }
    controller.view.reset();
  }

  Decision decide(const SmallServer& view, bool wants, std::string token, std::vector<std::string> distrusted) const {
    const auto rules = scenery_.wishes.rules();
    const auto services = wants ? scenery_.wishes.services() : std::vector<const api::Service*>();
    const auto configs = values_of(view.configs);
    const auto states = values_of(view.states);
    const auto nodes = Sample::pointers(scenery_.nodes);
    const auto pods = Sample::pointers(scenery_.pods);
    Patience patience{std::chrono::seconds(5)};
    return intent::decide(
        {.rules = rules,
         .services = services,
         .slices = {},
         .configs = configs,
         .places = {.nodes = nodes, .pods = pods, .states = states, .unseen_agents = {}, .unread_reports = {}},
         .agent = nullptr,
         .may_withdraw = true,
         .fresh_token = std::move(token),
         .distrusted = std::move(distrusted),
         .now = meta::Time(std::chrono::seconds(1000))},
        patience);
  }

  static void check_removal(World& world) {
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (world.agents[i].holds) world.broken = "an object was removed while " + kNames[i] + " held its rule";
    }
  }

  // Faults over: one controller and the agents work on, and everything must come right.
  void check_end(World world, std::size_t at) {
    for (int round = 0; round < 8; ++round) {
      look(world, 0);
      act(world, 0, kAll);
      for (std::size_t i = 0; i < kNodes; ++i) {
        world.agents[i].look(world.server, kNames[i]);
        world.agents[i].apply();
        world.agents[i].report(world.server, kNames[i]);
      }
    }
    const bool is_right =
        world.server.configs.size() == (world.wanted ? 1U : 0U) &&
        std::ranges::all_of(world.agents, [&](const AgentModel& agent) { return agent.holds == world.wanted; });
    EXPECT_TRUE(is_right && world.broken.empty()) << world.broken << " does not come right after:" << story(at);
  }

  const Limits limits_;
  const Scenery scenery_;
  std::unordered_set<std::string> seen_;
  std::vector<std::pair<std::size_t, std::string>> trace_;  // How each state was reached: from where, by what.
  std::map<std::size_t, World> worlds_;                     // Those still to be looked at.
  std::vector<std::size_t> open_;
};

void explore(const Model::Limits& limits) {
  const std::size_t states = Model(limits).explore();
  testing::Test::RecordProperty("states", static_cast<int>(states));
  fmt::print("{} states\n", states);
}

TEST(ProtocolModel, S10_S11_offered_withdrawn_offered_and_withdrawn_again) {
  explore({.turns = 3});
}

TEST(ProtocolModel, S11_crashes_anywhere) {
  explore({.turns = 2, .controller_crashes = 1, .agent_crashes = 1});
}

TEST(ProtocolModel, C1_two_leaders) {
  explore({.turns = 1, .has_second_leader = true});
}

TEST(ProtocolModel, A8_the_storage_is_restored_from_a_backup) {
  explore({.turns = 1, .restores = 1});
}

}  // namespace
}  // namespace intent
