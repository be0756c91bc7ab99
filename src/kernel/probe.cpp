#include "kernel/probe.h"

#include <cerrno>
#include <linux/if_addr.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>

#include "kernel/nft/requests.h"
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

// Only checked, so that nobody ever sees the table.
std::optional<bool> would_take(Socket& netfilter, const nft::Expressions& rule) {
  nft::Requests requests("iprule_probe");
  requests.add_table();
  requests.add_set({.name = "map", .family = net::Family::v4, .is_map = true});
  requests.add_chain("chain");
  requests.add_rule("chain", rule);
  const auto checked = nft::check(netfilter, std::move(requests));
  if (checked) return true;
  // What it says of itself counts. That we may not ask, or that it has no memory just now, says nothing.
  const base::Fault fault = checked.error().fault();
  const bool is_lacking = fault == base::Fault::kernel || fault == base::Fault::absent;
  return is_lacking ? std::optional(false) : std::nullopt;
}

// ip saddr vmap @map
const nft::Expressions kMaps = {nft::LoadMeta{NFT_META_NFPROTO}, nft::IsByte{NFPROTO_IPV4}, nft::LoadHeader{12, 4},
                                nft::Follow{"map"}};
// ct direction reply ct original ip daddr vmap @map
const nft::Expressions kOriginal = {nft::LoadCt{NFT_CT_DIRECTION}, nft::IsByte{IP_CT_DIR_REPLY},
                                    nft::LoadCt{NFT_CT_DST_IP, IP_CT_DIR_ORIGINAL}, nft::Follow{"map"}};

}  // namespace

state::Capabilities probe(Socket& socket, std::uint8_t protocol) {
  state::Capabilities out{.rule_protocol = known(try_rule_protocol(socket, protocol)),
                          .nexthop_objects = known(has_nexthop_objects(socket)),
                          .address_protocol = known(has_address_protocol(socket))};
  if (auto netfilter = Socket::open(Bus::netfilter)) {
    out.nft_maps = would_take(*netfilter, kMaps);
    out.ct_original = would_take(*netfilter, kOriginal);
  }
  return out;
}

}  // namespace kernel
