#include "kernel/observe.h"

#include <array>
#include <cerrno>
#include <linux/rtnetlink.h>

#include "kernel/netlink/events.h"
#include "kernel/observe_routing.h"
#include "kernel/rtnl/rule.h"
#include "kernel/rtnl/rule_run.h"

namespace kernel {
namespace {

using net::Family;

// A rule that nobody has. Asking to delete it takes the lock under which rules change, so when the answer (ENOENT) is
// there, every change that a dump could have seen has also queued its event.
constexpr std::uint32_t kNowhere = 0xffffffff;

constexpr std::size_t kSpareRules = 1024;

// False where we may not ask.
base::Result<bool> wait_for_writers(Socket& socket, Family family) {
  const auto nobody = net::Address::parse(family == Family::v4 ? "240.0.0.0" : "100::").value();
  state::Rule rule{.family = family, .priority = kNowhere, .protocol = 183, .table = kNowhere};
  rule.selector.from = net::Prefix::host(nobody);
  rule.selector.to = net::Prefix::host(nobody);
  rule.selector.iif = net::InterfaceName::parse("iprule-fence").value();
  const auto status = socket.transact(TRY(rtnl::encode_remove(rule)));
  if (status || status.error().errno_value() == ENOENT) return true;
  if (status.error().fault() == base::Fault::denied) return false;
  return std::unexpected(status.error());
}

base::Status dump_rules(Socket& socket, Family family, state::NetState& into) {
  rtnl::RuleRun run;
  const auto take = [&](const Received& received) -> base::Status {
    if (const state::Rule* const alike = run.next(received)) {
      into.rules.push_back(*alike);
      return {};
    }
    auto decoded = TRY(rtnl::decode_rule(received));
    if (auto* const rule = std::get_if<state::Rule>(&decoded)) {
      run.start(received, *rule);
      into.rules.push_back(*rule);
    } else {
      into.opaque_rules.push_back(std::get<state::OpaqueRule>(std::move(decoded)));
    }
    return {};
  };
  TRY(socket.dump(rtnl::encode_dump(family), take));
  return {};
}

// Whether the part of `into` that was read is what the kernel held at one instant.
base::Result<bool> bracketed_dump(Socket& socket, EventSocket& events, Family family, state::NetState& into) {
  TRY(events.drain());
  TRY(dump_rules(socket, family, into));
  const bool writers_are_done = TRY(wait_for_writers(socket, family));
  const auto inside = TRY(events.drain());
  return writers_are_done && inside.events == 0 && !inside.lost;
}

base::Result<bool> observe_family(Socket& socket, Family family, int tries, std::stop_token stop,
                                  state::NetState& into) {
  const std::array<int, 1> groups = {family == Family::v4 ? RTNLGRP_IPV4_RULE : RTNLGRP_IPV6_RULE};
  auto events = TRY(EventSocket::open(Bus::route, groups));
  const std::size_t rules = into.rules.size();
  const std::size_t opaque = into.opaque_rules.size();
  for (int i = 0; i < tries; ++i) {
    if (stop.stop_requested()) return base::fail(base::Fault::cancelled, "stopped while reading rules");
    into.rules.resize(rules);
    into.opaque_rules.resize(opaque);
    if (TRY(bracketed_dump(socket, events, family, into))) return true;
  }
  return false;
}

}  // namespace

base::Result<state::Observation> observe(Socket& socket, std::stop_token stop, const ObserveOptions& options) {
  state::NetState seen;
  seen.rules.reserve(options.expected_rules);
  const bool v4 = TRY(observe_family(socket, Family::v4, options.tries, stop, seen));
  const bool v6 = TRY(observe_family(socket, Family::v6, options.tries, stop, seen));
  // A node may hold very many, and for long.
  if (seen.rules.capacity() - seen.rules.size() > kSpareRules) seen.rules.shrink_to_fit();
  const bool routing = !options.routing || TRY(observe_routing(socket, options, stop, seen));
  if (v4 && v6 && routing) return state::Verified{.state = std::move(seen)};
  return state::Unverified{.state = std::move(seen),
                           .reason = "it changed during every try to read it, or we may not wait for those who write"};
}

}  // namespace kernel
