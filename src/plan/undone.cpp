#include "plan/undone.h"

namespace plan {
namespace {

using state::InterfaceAddress;
using state::Nexthop;
using state::ObservedLink;
using state::OpaqueRoute;
using state::Route;
using Conditions = std::vector<Undone::Condition>;

Conditions over(const std::optional<RouteTable>& table) {
  if (!table) return {};
  return {Undone::NoRuleOver{*table}};
}

// What holds after an operation.
struct Meets {
  Conditions operator()(const AddRule& op) const { return {Undone::NewRuleFor{op.rule.family, op.rule.selector}}; }
  Conditions operator()(const RemoveRule& op) const { return over(ground_of(op.rule)); }
  Conditions operator()(const RemoveOpaqueRule& op) const {
    return over(RouteTable{.family = op.rule.family, .number = op.rule.table});
  }
  Conditions operator()(const Add<Route>& op) const { return {Undone::RoutesOf{table_of(op.object)}}; }
  Conditions operator()(const Replace<Route>& op) const { return {Undone::RoutesOf{table_of(op.to)}}; }
  Conditions operator()(const Remove<Route>& op) const {
    Conditions out;
    if (op.object.nexthop != 0) out.emplace_back(Undone::NexthopUnused{op.object.nexthop});
    for (const state::RouteHop& hop : op.object.hops) out.emplace_back(Undone::DeviceUnused{hop.dev});
    return out;
  }
  Conditions operator()(const Add<Nexthop>& op) const { return {Undone::NexthopMade{op.object.id}}; }
  Conditions operator()(const Replace<Nexthop>& op) const { return {Undone::NexthopMade{op.to.id}}; }
  Conditions operator()(const Remove<Nexthop>& op) const {
    Conditions out;
    for (const state::NexthopMember& member : op.object.group) out.emplace_back(Undone::NexthopUnused{member.id});
    if (op.object.group.empty()) out.emplace_back(Undone::DeviceUnused{op.object.dev});
    return out;
  }
  Conditions operator()(const auto&) const { return {}; }
};

// What must hold before an operation.
struct Needs {
  Conditions operator()(const AddRule& op) const {
    const auto ground = ground_of(op.rule);
    if (!ground) return {};
    return {Undone::RoutesOf{*ground}};
  }
  Conditions operator()(const RemoveRule& op) const { return {Undone::NewRuleFor{op.rule.family, op.rule.selector}}; }
  Conditions operator()(const Add<Route>& op) const { return nexthop_of(op.object); }
  Conditions operator()(const Replace<Route>& op) const { return nexthop_of(op.to); }
  Conditions operator()(const Remove<Route>& op) const { return {Undone::NoRuleOver{table_of(op.object)}}; }
  Conditions operator()(const Remove<OpaqueRoute>& op) const {
    return {Undone::NoRuleOver{{.family = op.object.key.family, .number = op.object.key.table}}};
  }
  Conditions operator()(const Add<Nexthop>& op) const { return members_of(op.object); }
  Conditions operator()(const Replace<Nexthop>& op) const { return members_of(op.to); }
  Conditions operator()(const Remove<Nexthop>& op) const { return {Undone::NexthopUnused{op.object.id}}; }
  // An address that goes takes routes along, as a link does.
  Conditions operator()(const Remove<InterfaceAddress>& op) const { return {Undone::DeviceUnused{op.object.dev}}; }
  Conditions operator()(const Remove<ObservedLink>& op) const { return {Undone::DeviceUnused{op.object.link.name}}; }
  Conditions operator()(const auto&) const { return {}; }

  static Conditions nexthop_of(const Route& route) {
    if (route.nexthop == 0) return {};
    return {Undone::NexthopMade{route.nexthop}};
  }
  static Conditions members_of(const Nexthop& nexthop) {
    Conditions out;
    for (const state::NexthopMember& member : nexthop.group) out.emplace_back(Undone::NexthopMade{member.id});
    return out;
  }
};

}  // namespace

void Undone::note(const Op& op) {
  const Conditions unmet = std::visit(Meets(), op);
  for (const Condition& condition : unmet) unmet_.try_emplace(condition, text(op));
}

std::string Undone::obstacle_to(const Op& op) const {
  if (unmet_.empty()) return {};  // Nearly always, and rules may be many.
  const Conditions needs = std::visit(Needs(), op);
  for (const Condition& need : needs) {
    if (const auto found = unmet_.find(need); found != unmet_.end()) return found->second;
  }
  return {};
}

}  // namespace plan
