#include "plan/inverse.h"

#include <optional>

namespace plan {
namespace {

struct Inverse {
  std::optional<Op> operator()(const AddRule& op) const { return RemoveRule{op.rule}; }
  std::optional<Op> operator()(const RemoveRule& op) const { return AddRule{.rule = op.rule}; }
  std::optional<Op> operator()(const RemoveOpaqueRule&) const { return std::nullopt; }
  std::optional<Op> operator()(const Remove<state::OpaqueRoute>&) const { return std::nullopt; }
  std::optional<Op> operator()(const Add<state::Link>&) const { return std::nullopt; }
  std::optional<Op> operator()(const ChangeNft&) const { return std::nullopt; }
  std::optional<Op> operator()(const Remove<state::ObservedLink>& op) const { return Add<state::Link>{op.object.link}; }
  std::optional<Op> operator()(const Set& op) const { return Set{.own = op.own, .to = op.own.link}; }
  template <typename Object>
  std::optional<Op> operator()(const Add<Object>& op) const {
    return Remove<Object>{op.object};
  }
  template <typename Object>
  std::optional<Op> operator()(const Remove<Object>& op) const {
    return Add<Object>{op.object};
  }
  template <typename Object>
  std::optional<Op> operator()(const Replace<Object>& op) const {
    if (!op.from) return Remove<Object>{op.to};
    return Replace<Object>{.from = op.to, .to = *op.from};
  }
};

}  // namespace

Plan inverse(const Plan& plan) {
  Plan out;
  for (auto op = plan.ops.rbegin(); op != plan.ops.rend(); ++op) {
    if (auto back = std::visit(Inverse(), *op)) out.ops.push_back(*std::move(back));
  }
  return out;
}

}  // namespace plan
