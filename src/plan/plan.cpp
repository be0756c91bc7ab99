#include "plan/plan.h"

#include <fmt/format.h>

namespace plan {
namespace {

struct OpText {
  std::string operator()(const AddRule& op) const { return line("add", op.rule); }
  std::string operator()(const RemoveRule& op) const { return line("remove", op.rule); }
  std::string operator()(const RemoveOpaqueRule& op) const { return line("remove", op.rule); }

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
  return out;
}

}  // namespace plan
