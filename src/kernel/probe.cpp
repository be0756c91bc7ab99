#include "kernel/probe.h"

#include <cerrno>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "kernel/nft/context.h"
#include "kernel/rtnl/address.h"
#include "kernel/rtnl/nexthop.h"
#include "kernel/rtnl/rule.h"

namespace kernel {
namespace {

// Does nothing, to packets of a link that is not there, after all other rules. If we are killed before it is removed,
// it is an own rule that nobody wants, and the next pass removes it.
state::Rule harmless_rule(std::uint8_t protocol) {
  state::Rule rule{.priority = 0xffffffff, .action = state::RuleAction::nop, .protocol = protocol};
  rule.selector.from = net::Prefix::host(net::Address::parse("240.0.0.0").value());
  rule.selector.iif = net::InterfaceName::parse("iprule-probe").value();
  return rule;
}

base::Result<bool> try_rule_protocol(Socket& socket, std::uint8_t protocol) {
  const state::Rule rule = harmless_rule(protocol);
  auto addition = TRY(rtnl::encode_add(rule, true));
  const auto added = socket.transact(std::move(addition));
  if (!added && added.error().errno_value() != EEXIST) return std::unexpected(added.error());
  bool seen = false;
  const auto look = [&](const Received& message) -> base::Status {
    const auto decoded = TRY(rtnl::decode_rule(message));
    const auto* const found = std::get_if<state::Rule>(&decoded);
    seen = seen || (found != nullptr && *found == rule);
    return {};
  };
  const auto looked = socket.dump(rtnl::encode_dump(rule.family), look);
  auto removal = TRY(rtnl::encode_remove(rule));
  TRY(socket.transact(std::move(removal)));
  if (!looked) return std::unexpected(looked.error());
  return seen;
}

// Only asked for: one of ours would be an event for every routing daemon of the node.
base::Result<bool> has_nexthop_objects(Socket& socket) {
  const auto seen = socket.dump(rtnl::encode_nexthop_dump(), [](const Received&) { return base::Status{}; });
  if (seen) return true;
  if (seen.error().errno_value() == EOPNOTSUPP) return false;
  return std::unexpected(seen.error());
}

// The kernel says of loopback's addresses that they are its own, where it can. Without any, nobody knows.
base::Result<std::optional<bool>> has_address_protocol(Socket& socket) {
  bool any = false;
  bool seen = false;
  const auto look = [&](const Received& message) -> base::Status {
    std::span<const std::byte> rest = message.payload;
    const auto header = TRY(take_header<ifaddrmsg>(rest));
    if (header.ifa_scope != RT_SCOPE_HOST) return {};
    any = true;
    while (!rest.empty()) seen = TRY(next_attribute(rest)).type == IFA_PROTO || seen;
    return {};
  };
  for (const auto family : {net::Family::v4, net::Family::v6}) {
    TRY(socket.dump(rtnl::encode_address_dump(family), look));
  }
  return any ? std::optional(seen) : std::nullopt;
}

template <typename Answer>
std::optional<bool> known(const base::Result<Answer>& answer) {
  if (answer) return *answer;
  return std::nullopt;
}

// The kernel takes the whole transaction apart and looks for what it needs, and then does none of it.
std::optional<bool> would_take(nft::Context& context, const char* commands) {
  const auto checked = context.check(commands);
  if (checked) return true;
  return checked.error().fault() == base::Fault::denied ? std::nullopt : std::optional(false);
}

constexpr auto* kMaps =
    "table inet iprule_probe { map m { type ipv4_addr : verdict; }; chain c { ip saddr vmap @m; }; }";
constexpr auto* kOriginal =
    "table inet iprule_probe { chain c { ct direction reply ct original ip daddr 192.0.2.1 accept; }; }";

}  // namespace

state::Capabilities probe(Socket& socket, std::uint8_t protocol) {
  state::Capabilities out{.rule_protocol = known(try_rule_protocol(socket, protocol)),
                          .nexthop_objects = known(has_nexthop_objects(socket)),
                          .address_protocol = known(has_address_protocol(socket))};
  if (auto context = nft::Context::open()) {
    out.nft_maps = would_take(*context, kMaps);
    out.ct_original = would_take(*context, kOriginal);
  }
  return out;
}

}  // namespace kernel
