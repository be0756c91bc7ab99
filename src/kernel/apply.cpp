#include "kernel/apply.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "kernel/rtnl/rule.h"

namespace kernel {
namespace {

// Messages in memory at once; the plan may be much longer.
constexpr std::size_t kSlice = 1024;

struct Encode {
  const plan::Ownership& ownership;

  base::Result<Message> operator()(const plan::AddRule& op) const {
    TRY(own(op.rule));
    return rtnl::encode_add(op.rule, op.exclusive);
  }
  base::Result<Message> operator()(const plan::RemoveRule& op) const {
    TRY(own(op.rule));
    return rtnl::encode_remove(op.rule);
  }
  base::Result<Message> operator()(const plan::RemoveOpaqueRule& op) const {
    TRY(own(op.rule));
    return rtnl::encode_remove(op.rule);
  }

  base::Status own(const auto& object) const {
    if (ownership.owns(object)) return {};
    return base::fail(base::Fault::bug, "refused to change what is not ours");
  }
};

// The race that does no harm, for this kind of operation.
int harmless_errno(const plan::Op& op) {
  return std::holds_alternative<plan::AddRule>(op) ? EEXIST : ENOENT;
}

OpResult judge(const plan::Op& op, base::Status status) {
  if (status) return {};
  const bool harmless = status.error().errno_value() == harmless_errno(op);
  return {.effect = harmless ? Effect::harmless : Effect::failed, .status = base::within(text(op), std::move(status))};
}

void apply_slice(Socket& socket, std::span<const plan::Op> ops, const plan::Ownership& ownership, std::stop_token stop,
                 std::vector<OpResult>& results) {
  std::vector<Message> messages;
  std::vector<std::size_t> sent;  // Which operation each message is for.
  const std::size_t first = results.size();
  results.resize(first + ops.size());
  messages.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    auto message = std::visit(Encode{ownership}, ops[i]);
    if (message) {
      messages.push_back(*std::move(message));
      sent.push_back(i);
    } else {
      results[first + i] = judge(ops[i], std::unexpected(std::move(message).error()));
    }
  }
  auto statuses = socket.transact_all(messages, stop);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    results[first + sent[i]] = judge(ops[sent[i]], std::move(statuses[i]));
  }
}

}  // namespace

std::size_t Outcome::count(Effect effect) const {
  return static_cast<std::size_t>(std::ranges::count(results, effect, &OpResult::effect));
}

Outcome apply(Socket& socket, const plan::Plan& plan, const plan::Ownership& ownership, std::stop_token stop) {
  Outcome out;
  out.results.reserve(plan.ops.size());
  std::span<const plan::Op> rest = plan.ops;
  while (!rest.empty()) {
    const auto slice = rest.first(std::min(rest.size(), kSlice));
    apply_slice(socket, slice, ownership, stop, out.results);
    rest = rest.subspan(slice.size());
  }
  return out;
}

}  // namespace kernel
