#pragma once

#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "plan/ownership.h"
#include "plan/plan.h"
#include "plan/undone.h"

namespace kernel {

// What became of one operation.
enum class Effect : std::uint8_t {
  done,      // The kernel did it.
  harmless,  // Somebody was faster: already there (EEXIST) or already gone (ENOENT). Only a read-back tells whose it
             // is.
  pending,   // A link, an address or the way to a gateway is missing, or an operation that this one stands on was not
             // done: worth another try when one of them changes, not before.
  failed,
};

struct OpResult {
  Effect effect = Effect::done;
  base::Status status{};  // The refusal of a failed one, or of a harmless one.
};

// The i-th result is the i-th operation's. Done is not applied: only a verified read-back says so.
struct Outcome {
  std::vector<OpResult> results{};

  std::size_t count(Effect effect) const;
};

// The messages of a plan, without sending them: for the guard, which may have to send them when nobody else can. An
// operation on a link that does not exist is left out, for it has nothing to act on. Without changes of the nft table.
base::Result<std::vector<Message>> encode(Socket& socket, const plan::Plan& plan, const plan::Ownership& ownership);

// Sends the operations in order, pipelined. Of a failed one only those that stand on it wait; all others are done.
// `undone` has what earlier parts of the plan left so, and gets what this one does. After a stop the rest fail as
// cancelled. Whatever is not owned is refused here once more, as Fault::bug. No changes of the nft table.
Outcome apply(Socket& socket, std::span<const plan::Op> ops, const plan::Ownership& ownership, plan::Undone& undone,
              std::stop_token stop);

// The result of an operation that has to wait.
OpResult waiting(const plan::Op& op, std::string_view cause);

}  // namespace kernel
