#include "plan/plan.h"

#include <fmt/format.h>

namespace plan {
namespace {

struct OpText {
  std::string operator()(const AddRule& op) const { return line("add", op.rule); }
  std::string operator()(const RemoveRule& op) const { return line("remove", op.rule); }
  std::string operator()(const RemoveOpaqueRule& op) const { return line("remove", op.rule); }

  std::string operator()(const Remove<state::OpaqueRoute>& op) const {
    return fmt::format("remove {} route {}", net::text(op.object.key.family), text(op.object));
  }
  std::string operator()(const Set& op) const { return fmt::format("set link {}", text(op.to)); }
  std::string operator()(const ChangeNft& op) const {
    std::string lines = state::text(*op.change);
    if (lines.ends_with('\n')) lines.pop_back();
    return lines;
  }
  template <typename Object>
  std::string operator()(const Add<Object>& op) const {
    return fmt::format("add {}", named(op.object));
  }
  template <typename Object>
  std::string operator()(const Remove<Object>& op) const {
    return fmt::format("remove {}", named(op.object));
  }
  template <typename Object>
  std::string operator()(const Replace<Object>& op) const {
    return fmt::format("replace {}\n     to {}", op.from ? named(*op.from) : "one we do not understand", text(op.to));
  }

  static std::string named(const state::Route& route) {
    return fmt::format("{} route {}", net::text(route.family), text(route));
  }
  static std::string named(const state::Nexthop& nexthop) { return fmt::format("nexthop {}", text(nexthop)); }
  static std::string named(const state::InterfaceAddress& address) {
    return fmt::format("{} address {}", net::text(address.local.family()), text(address));
  }
  static std::string named(const state::Link& link) { return fmt::format("link {}", text(link)); }
  static std::string named(const state::ObservedLink& seen) { return named(seen.link); }

  static std::string line(std::string_view verb, const auto& rule) {
    return fmt::format("{} {} rule {}", verb, net::text(rule.family), text(rule));
  }
};

}  // namespace

std::string text(const Op& op) {
  return std::visit(OpText(), op);
}

std::string text(const Plan& plan) {
  std::string out;
  const auto into = std::back_inserter(out);
  for (const Op& op : plan.ops) fmt::format_to(into, "{}\n", text(op));
  for (const Clash& clash : plan.clashes) {
    fmt::format_to(into, "clash {} rule {}\n  with foreign {}\n", net::text(clash.desired.family), text(clash.desired),
                   text(clash.foreign));
  }
  for (const Refusal& refusal : plan.refused) {
    fmt::format_to(into, "refused {} rule {}\n  {}\n", net::text(refusal.desired.family), text(refusal.desired),
                   refusal.reason.message());
  }
  for (const Obstacle& obstacle : plan.obstacles) {
    fmt::format_to(into, "obstacle {}\n  {}\n", obstacle.desired, obstacle.reason);
  }
  return out;
}

}  // namespace plan
