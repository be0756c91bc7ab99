#include "kernel/nft/trace_event.h"

#include <endian.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

std::string family_name(std::uint8_t number) {
  switch (number) {
    case NFPROTO_INET:
      return "inet";
    case NFPROTO_IPV4:
      return "ip";
    case NFPROTO_IPV6:
      return "ip6";
    case NFPROTO_BRIDGE:
      return "bridge";
    case NFPROTO_NETDEV:
      return "netdev";
    default:
      return fmt::to_string(number);
  }
}

base::Result<TraceEvent::At> place_of(std::uint32_t type) {
  switch (type) {
    case NFT_TRACETYPE_RULE:
      return TraceEvent::At::rule;
    case NFT_TRACETYPE_RETURN:
      return TraceEvent::At::end_of_chain;
    case NFT_TRACETYPE_POLICY:
      return TraceEvent::At::policy;
    default:
      return base::fail(base::Fault::kernel, fmt::format("a trace of type {}", type));
  }
}

unsigned version_of(std::span<const std::byte> network) {
  return network.empty() ? 0 : std::to_integer<unsigned>(network[0]) >> 4U;
}

template <typename Header>
base::Result<TracedHeader> decode_network(std::span<const std::byte> bytes, std::uint8_t Header::* protocol) {
  const auto header = TRY(take_header<Header>(bytes));
  TracedHeader out{.ip_protocol = header.*protocol};
  out.from = TRY(net::Address::from_bytes(std::as_bytes(std::span(&header.saddr, 1))));
  out.to = TRY(net::Address::from_bytes(std::as_bytes(std::span(&header.daddr, 1))));
  return out;
}

// What is neither IPv4 nor IPv6, such as ARP on a bridge that somebody else traces, has no header for us.
base::Result<std::optional<TracedHeader>> decode_network(std::span<const std::byte> bytes) {
  switch (version_of(bytes)) {
    case 4:
      return TRY(decode_network(bytes, &iphdr::protocol));
    case 6:
      return TRY(decode_network(bytes, &ipv6hdr::nexthdr));
    default:
      return std::nullopt;
  }
}

// What looks like ports in it is payload. In IPv6 it has another protocol's number.
bool is_later_fragment(std::span<const std::byte> network) {
  constexpr unsigned kOffset = 0x1fff;
  const auto header = take_header<iphdr>(network);
  return header && header->version == 4 && (be16toh(header->frag_off) & kOffset) != 0;
}

void add_ports(TracedHeader& header, std::span<const std::byte> transport) {
  const bool has_ports = header.ip_protocol == IPPROTO_TCP || header.ip_protocol == IPPROTO_UDP;
  const auto port = [&](std::size_t at) {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(transport[at]) << 8U |
                                      std::to_integer<unsigned>(transport[at + 1]));
  };
  if (!has_ports || transport.size() < 4) return;
  header.sport = port(0);
  header.dport = port(2);
}

}  // namespace

base::Result<TraceEvent> decode_trace(const Received& message) {
  if (message.type != message_type(NFT_MSG_TRACE)) {
    return base::fail(base::Fault::kernel, fmt::format("a message of type {} among traces", message.type));
  }
  std::span<const std::byte> rest = message.payload;
  const auto about = TRY(take_header<nfgenmsg>(rest));
  auto fields = TRY(Fields::read(rest));
  TraceEvent out{.id = TRY(fields.number(NFTA_TRACE_ID))};
  out.family = family_name(about.nfgen_family);  // NFTA_TRACE_NFPROTO is the packet's.
  out.table = TRY(fields.text(NFTA_TRACE_TABLE));
  out.chain = TRY(fields.text(NFTA_TRACE_CHAIN));
  const std::uint32_t type = TRY(fields.number(NFTA_TRACE_TYPE));
  out.at = TRY(place_of(type));
  if (const auto handle = fields.take(NFTA_TRACE_RULE_HANDLE)) out.rule = be64toh(TRY(handle->u64()));
  if (const auto verdict = fields.take(NFTA_TRACE_VERDICT)) out.verdict = TRY(decode_verdict(verdict->value)).kept();
  if (out.at == TraceEvent::At::policy) {
    out.verdict.code = static_cast<std::int32_t>(TRY(fields.number_or(NFTA_TRACE_POLICY, NF_ACCEPT)));
  }
  out.mark = TRY(fields.number_or(NFTA_TRACE_MARK, 0));
  out.iif = TRY(fields.number_or(NFTA_TRACE_IIF, 0));
  out.oif = TRY(fields.number_or(NFTA_TRACE_OIF, 0));
  if (const auto network = fields.take(NFTA_TRACE_NETWORK_HEADER)) {
    out.header = TRY(decode_network(network->value));
    const auto transport = fields.take(NFTA_TRACE_TRANSPORT_HEADER);
    if (out.header && transport && !is_later_fragment(network->value)) add_ports(*out.header, transport->value);
  }
  return out;
}

std::string text(const Verdict& verdict) {
  switch (verdict.code) {
    case NF_DROP:
      return "drop";
    case NF_ACCEPT:
      return "accept";
    case NF_STOLEN:
      return "stolen";
    case NFT_CONTINUE:
      return "continue";
    case NFT_BREAK:
      return "break";
    case NFT_RETURN:
      return "return";
    case NFT_JUMP:
      return "jump " + verdict.chain;
    case NFT_GOTO:
      return "goto " + verdict.chain;
    default:
      return (verdict.code & NF_VERDICT_MASK) == NF_QUEUE ? "queue" : fmt::format("verdict {}", verdict.code);
  }
}

}  // namespace kernel::nft
