#include "path/walk.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "path/match.h"
#include "path/table.h"

namespace path {
namespace {

Verdict::Kind kind_of(state::RouteType type) {
  switch (type) {
    case state::RouteType::unicast:
    case state::RouteType::throw_back:
      return Verdict::Kind::leaves;
    case state::RouteType::local:
      return Verdict::Kind::delivered;
    case state::RouteType::broadcast:
      return Verdict::Kind::broadcast;
    case state::RouteType::anycast:
      return Verdict::Kind::anycast;
    case state::RouteType::multicast:
      return Verdict::Kind::multicast;
    case state::RouteType::blackhole:
      return Verdict::Kind::dropped;
    case state::RouteType::prohibit:
      return Verdict::Kind::prohibited;
    case state::RouteType::unreachable:
      return Verdict::Kind::unreachable;
  }
  return Verdict::Kind::unreachable;
}

class Walker {
 public:
  Walker(const state::NetState& observed, const Packet& packet) : observed_(observed), packet_(packet) {
    for (const state::Rule& rule : observed.rules) {
      if (rule.family == packet.to.family()) rules_.push_back(&rule);
    }
  }

  Walk run() {
    std::uint32_t last = 0;  // The priority that the walk came to.
    std::size_t at = 0;
    while (at < rules_.size() && !decided_) {
      last = rules_[at]->priority;
      at = step(at);
    }
    if (!decided_) last = 0xffffffff;
    for (const state::OpaqueRule& rule : observed_.opaque_rules) {
      if (rule.family != packet_.to.family() || rule.priority > last) continue;
      walk_.doubts.push_back(fmt::format("rule {}", text(rule)));
    }
    return std::move(walk_);
  }

 private:
  // Where to go on.
  std::size_t step(std::size_t at) {
    const state::Rule& rule = *rules_[at];
    if (!matches(rule, packet_, observed_)) {
      note(rule, Step::Effect::not_matched);
      return at + 1;
    }
    switch (rule.action) {
      case state::RuleAction::lookup:
        look_up_in(rule, rule.l3mdev ? vrf_table(observed_, packet_) : rule.table);
        return at + 1;
      case state::RuleAction::go_to:
        return jump(at);
      case state::RuleAction::nop:
        note(rule, Step::Effect::passed);
        return at + 1;
      case state::RuleAction::blackhole:
        return decide(rule, at, Verdict::Kind::dropped);
      case state::RuleAction::unreachable:
        return decide(rule, at, Verdict::Kind::unreachable);
      case state::RuleAction::prohibit:
        return decide(rule, at, Verdict::Kind::prohibited);
    }
    return at + 1;
  }

  std::size_t jump(std::size_t at) {
    const state::Rule& rule = *rules_[at];
    // Only forward, as the kernel has it: no walk without an end.
    const auto after = rules_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto target = std::find_if(after, rules_.end(), [&](const auto* it) { return it->priority == rule.target; });
    note(rule, target != rules_.end() ? Step::Effect::jumped : Step::Effect::jump_is_lost);
    return target != rules_.end() ? static_cast<std::size_t>(target - rules_.begin()) : at + 1;
  }

  std::size_t decide(const state::Rule& rule, std::size_t at, Verdict::Kind kind) {
    note(rule, Step::Effect::decided);
    walk_.verdict.kind = kind;
    decided_ = true;
    return at;
  }

  void look_up_in(const state::Rule& rule, std::uint32_t table) {
    Found found = look_up(observed_, table, packet_);
    for (const state::OpaqueRoute* route : found.unread) walk_.doubts.push_back(fmt::format("route {}", text(*route)));
    if (found.route == nullptr) return note(rule, Step::Effect::no_route);
    const state::Route& route = *found.route;
    if (route.type == state::RouteType::throw_back) return note(rule, Step::Effect::thrown_back, &route);
    // A route that refuses is an error to the kernel, and only a success can be suppressed.
    const bool suppressed = !rejects(route.type) && rule.suppress_prefixlength &&
                            route.to.length() <= static_cast<int>(*rule.suppress_prefixlength);
    if (suppressed) return note(rule, Step::Effect::suppressed, &route);
    if (rule.suppress_ifgroup) walk_.doubts.push_back("device groups, which this walk does not read");
    note(rule, Step::Effect::decided, &route);
    walk_.verdict = {.kind = kind_of(route.type), .table = table, .hops = std::move(found.hops)};
    decided_ = true;
  }

  void note(const state::Rule& rule, Step::Effect effect, const state::Route* route = nullptr) {
    walk_.steps.push_back({.rule = &rule, .effect = effect, .route = route});
  }

  const state::NetState& observed_;
  const Packet& packet_;
  std::vector<const state::Rule*> rules_;
  Walk walk_;
  bool decided_ = false;
};

}  // namespace

Walk walk(const state::NetState& observed, const Packet& packet) {
  return Walker(observed, packet).run();
}

}  // namespace path
