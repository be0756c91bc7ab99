#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/apply.h"
#include "kernel/netlink/socket.h"
#include "kernel/nft/own_table.h"
#include "kernel/observe.h"
#include "plan/diff.h"
#include "plan/ownership.h"
#include "state/net_state.h"

namespace kernel {

// The kernel's networking in one namespace: read it, change it. Used by one thread, in the namespace where it was
// opened. After Fault::timeout it is of no more use: open another.
//
//   auto engine = TRY(kernel::Engine::open({}));
//   const auto seen = TRY(engine.observe(stop));
//   const auto todo = plan::diff(seen, desired, engine.ownership());
//   const auto outcome = engine.apply(todo, stop);
//
// or all of it, with the read-back: engine.converge(desired, stop).
class Engine {
 public:
  enum class Reach : std::uint8_t {
    rules,
    steering,  // Rules and our nft table.
    all,       // Links, addresses, nexthops and routes as well.
  };

  static base::Result<Engine> open(plan::Ownership ownership, Reach reach = Reach::rules);

  const plan::Ownership& ownership() const { return ownership_; }
  // Instead of those before. One that ours are to take the place of goes when these were read back, not before.
  void adopt(std::vector<state::Rule> rules) { ownership_.adopted = std::move(rules); }
  std::uint32_t port() const { return socket_.port(); }  // Events with this number are our own doing.

  // `desired` tells in which tables routes of others matter.
  base::Result<state::Observation> observe(std::stop_token stop, const state::NetState& desired = {});
  // In order. What was not done holds back those that stand on it: a rule waits for the routes of its table, the nft
  // table for the rules of its marks.
  Outcome apply(const plan::Plan& todo, std::stop_token stop);

  // The next look at our nft table asks the kernel for all of it: for a slow audit. Else it is asked only after
  // somebody else touched the table, because listing a large one takes long.
  void distrust() {
    if (table_) table_->distrust();
  }
  std::uint64_t table_listings() const { return table_ ? table_->listings() : 0; }  // How often that was; for metrics.
  Socket& socket() { return socket_; }

  static constexpr int kRounds = 3;

  // Where one pass has led.
  struct Report {
    state::Observation after{};  // As read back.
    plan::Plan done{};           // What was sent, with its outcome.
    Outcome outcome{};
    plan::Plan left{};  // What the read-back still asks for; its clashes and refusals stand as well.

    // The desired state is there, exactly once, and that was verified.
    bool settled() const { return state::is_verified(after) && left.empty(); }
  };
  // Observe, diff, apply, read back; nothing is written when nothing is to do. A bulk of adds may need a second round
  // that removes copies somebody else made meanwhile, so up to `rounds` are made while operations succeed. A rule over
  // a table whose routes went and cannot be made again goes as well.
  base::Result<Report> converge(const state::NetState& desired, std::stop_token stop, int rounds = kRounds);
  // The same, from what observe() has just said.
  base::Result<Report> converge(state::Observation before, const state::NetState& desired, std::stop_token stop,
                                int rounds = kRounds);

 private:
  Engine(Socket socket, plan::Ownership ownership, Reach reach)
      : socket_(std::move(socket)), ownership_(std::move(ownership)), reach_(reach) {}

  plan::Plan diff(const state::Observation& seen, const state::NetState& desired) const;
  state::Observation with_table(state::Observation seen);
  base::Result<state::ObservedNft> observe_table();
  base::Status withdraw(Report& report, const state::NetState& desired, std::stop_token stop);
  base::Status change_table(const state::NftChange& change, std::span<const plan::Op> before, const Outcome& outcome);

  Socket socket_;
  plan::Ownership ownership_;
  Reach reach_;
  std::size_t rules_seen_ = 0;          // The last time.
  std::optional<nft::OwnTable> table_;  // Opened when it is first needed.
};

}  // namespace kernel
