#include "kernel/rtnl/rule_run.h"

#include <algorithm>
#include <cstring>
#include <linux/fib_rules.h>

namespace kernel::rtnl {

const state::Rule* RuleRun::next(const Received& message) {
  const std::span<const std::byte> wire = message.payload;
  if (wire_.empty() || wire.size() != wire_.size()) return nullptr;
  const std::size_t after = source_ + source_size_;
  if (std::memcmp(wire.data(), wire_.data(), source_) != 0) return nullptr;
  if (std::memcmp(wire.data() + after, wire_.data() + after, wire.size() - after) != 0) return nullptr;
  const auto address = net::Address::from_bytes(wire.subspan(source_, source_size_));
  if (!address) return nullptr;
  const net::Prefix from(*address, rule_.selector.from->length());
  // A mapped address, or bits beyond the length: not a rule of our type.
  if (address->family() != rule_.family || from.address() != *address) return nullptr;
  rule_.selector.from = from;
  return &rule_;
}

void RuleRun::start(const Received& message, const state::Rule& rule) {
  wire_.clear();
  if (!rule.selector.from) return;
  std::span<const std::byte> rest = message.payload.subspan(std::min(sizeof(fib_rule_hdr), message.payload.size()));
  while (!rest.empty()) {
    const auto attribute = next_attribute(rest);
    if (!attribute) return;
    if (attribute->type != FRA_SRC) continue;  // Of two, the last counts: as in decode_rule().
    source_ = static_cast<std::size_t>(attribute->value.data() - message.payload.data());
    source_size_ = attribute->value.size();
  }
  rule_ = rule;
  wire_.assign(message.payload.begin(), message.payload.end());
}

}  // namespace kernel::rtnl
