#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/inventory.h"
#include "bench/line_of.h"
#include "bench/measure.h"
#include "bench/peer.h"

// What the two programs hold of memory when they have come to rest, by the number of objects.
namespace bench {
namespace {

constexpr std::array<std::uint32_t, 6> kSizes = {0, 1'000, 10'000, 12'500, 25'000, 50'000};
constexpr std::array<std::uint32_t, 4> kLines = {0, 1'000, 10'000, 50'000};
constexpr std::uint32_t kLeastOfGrowth = 12'500;  // Of fewer, what the agent holds is lost among its pages.

enum class Role : std::uint8_t { agent, controller, follower, peer_agent, peer_controller };

class Scales {
 public:
  base::Result<double> weigh(Role role, std::uint32_t objects, double Footprint::* part) {
    if (measured_.empty()) measured_ = TRY(measure_all());
    return measured_.at({role, objects}).*part;
  }

 private:
  using Measured = std::map<std::pair<Role, std::uint32_t>, Footprint>;

  // In ascending order: objects come and stay.
  static base::Result<Measured> measure_all() {
    Measured out;
    const auto inventory = TRY(Inventory::start());
    const auto other_controller = TRY(peer_controller());
    const auto other_agent = peer_agent();
    for (const std::uint32_t size : kSizes) {
      TRY(inventory->grow_to(size));
      out[{Role::agent, size}] = TRY(of_agent(*inventory, {IPRULE_AGENT}));
      if (other_agent) out[{Role::peer_agent, size}] = TRY(of_peer_agent(*inventory, other_agent->command));
      out[{Role::controller, size}] = TRY(of_controller(*inventory, {IPRULE_CONTROLLER}));
      out[{Role::follower, size}] = TRY(of_follower(*inventory));
      out[{Role::peer_controller, size}] = TRY(of_controller(*inventory, other_controller.command));
    }
    return out;
  }
  static base::Result<Footprint> of_agent(Inventory& inventory, const std::vector<std::string>& command) {
    const lab::Process* const process = TRY(inventory.start_agent(command));
    TRY(inventory.await_ready());  // Before that, it may rest because the server has yet to answer.
    const auto out = footprint_at_rest(process->pid());
    inventory.node().kill_programs();
    return out;
  }
  static base::Result<Footprint> of_peer_agent(Inventory& inventory, const std::vector<std::string>& command) {
    const lab::Process* const process = TRY(inventory.start_agent(command));
    const auto out = footprint_at_rest(process->pid());
    inventory.node().kill_programs();
    return out;
  }
  static base::Result<Footprint> of_controller(Inventory& inventory, const std::vector<std::string>& command) {
    const auto process = TRY(inventory.start_controller(command));
    return footprint_at_rest(process.pid());
  }

  static base::Result<Footprint> of_follower(Inventory& inventory) {
    auto process = TRY(lab::Process::start({.arguments = {FOLLOWER, inventory.stage().access()}}));
    TRY(line_of(process, "synced "));
    return footprint_at_rest(process.pid());
  }

  Measured measured_;
};

std::optional<Contender> contender(const std::shared_ptr<Scales>& scales, const std::optional<PeerProgram>& peer,
                                   Role role, std::uint32_t objects, double Footprint::* part) {
  if (!peer) return std::nullopt;
  return Contender{peer->name, [=] { return scales->weigh(role, objects, part); }};
}

}  // namespace

Group memory_group() {
  const auto scales = std::make_shared<Scales>();
  const auto other_agent = peer_agent();
  const auto other_controller = peer_controller();
  Group group{.name = "memory", .promises = {}};
  const auto add = [&](const char* program, const char* what, Role role, std::uint32_t objects,
                       double Footprint::* part, std::optional<Contender> peer) {
    group.promises.push_back({.name = fmt::format("{} {} with {} objects", program, what, objects),
                              .ours = [=] { return scales->weigh(role, objects, part); },
                              .peer = std::move(peer),
                              .rounds = 1,
                              .unit = "MiB"});
    if (objects == 10'000 && part == &Footprint::resident) {
      group.promises.back().budget = role == Role::agent ? 16 : 64;
    }
  };
  const std::optional<PeerProgram> known = other_controller ? std::optional(*other_controller) : std::nullopt;
  for (const std::uint32_t objects : kLines) {
    for (const auto& [what, part] :
         {std::pair("RSS", &Footprint::resident), std::pair("PSS", &Footprint::proportional)}) {
      add("agent", what, Role::agent, objects, part, contender(scales, other_agent, Role::peer_agent, objects, part));
      add("controller", what, Role::controller, objects, part,
          contender(scales, known, Role::peer_controller, objects, part));
    }
  }
  group.promises.push_back({.name = "a process that only follows 10000 objects, RSS",
                            .ours = [=] { return scales->weigh(Role::follower, 10'000, &Footprint::resident); },
                            .budget = 10,
                            .rounds = 1,
                            .unit = "MiB"});
  const auto above_empty = [scales](Role role) {
    return [scales, role](std::uint32_t n) -> base::Result<double> {
      const double empty = TRY(scales->weigh(role, 0, &Footprint::resident));
      return TRY(scales->weigh(role, n, &Footprint::resident)) - empty;
    };
  };
  for (const auto& [name, role] : {std::pair("agent", Role::agent), std::pair("controller", Role::controller)}) {
    group.growth.push_back({.name = fmt::format("{}'s RSS for n objects, above that for none", name),
                            .least = kLeastOfGrowth,
                            .expected = 1,
                            .work = above_empty(role),
                            .rounds = 1,
                            .unit = "MiB"});
  }
  return group;
}

}  // namespace bench
