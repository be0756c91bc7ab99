#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernel/netlink/attribute.h"
#include "state/rule.h"

namespace kernel::rtnl {

// Reads what it has just read again. A node's rules mostly differ in nothing but their source, and decoding all
// attributes of the twenty thousandth takes longer than seeing that it is the one before with another address.
class RuleRun {
 public:
  // The rule in `message`, if that is like the last one started with; else none, and decode_rule() has to look.
  const state::Rule* next(const Received& message);
  // `rule` is what decode_rule() has made of `message`.
  void start(const Received& message, const state::Rule& rule);

 private:
  state::Rule rule_{};
  std::vector<std::byte> wire_{};  // Empty: nothing to compare with.
  std::size_t source_ = 0;         // Where in it the address stands, and how many bytes it has.
  std::size_t source_size_ = 0;
};

}  // namespace kernel::rtnl
