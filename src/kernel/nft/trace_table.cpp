#include "kernel/nft/trace_table.h"

#include <algorithm>
#include <array>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <span>

#include "kernel/nft/expression_writer.h"
#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

// Before all that could change a packet, but behind the reassembly of fragments (-400); and behind all that could.
constexpr std::int32_t kFirst = -350;
constexpr std::int32_t kLast = 400;

std::array<std::byte, IFNAMSIZ> padded(const net::InterfaceName& name) {
  std::array<std::byte, IFNAMSIZ> out{};
  std::ranges::copy(std::as_bytes(std::span(name.text())), out.begin());
  return out;
}

// The expressions of the one rule.
class Tracing {
 public:
  explicit Tracing(Message& message) : write_(message) {}

  void match(const path::Packet& flow) const {
    const bool v4 = flow.to.family() == net::Family::v4;
    is_meta(NFT_META_NFPROTO, std::array{std::byte{v4 ? std::uint8_t{NFPROTO_IPV4} : std::uint8_t{NFPROTO_IPV6}}});
    if (!flow.iif.empty()) is_meta(NFT_META_IIFNAME, padded(flow.iif));
    if (!flow.from.is_unspecified()) is_header(NFT_PAYLOAD_NETWORK_HEADER, v4 ? 12 : 8, flow.from.bytes());
    is_header(NFT_PAYLOAD_NETWORK_HEADER, v4 ? 16 : 24, flow.to.bytes());
    is_meta(NFT_META_L4PROTO, std::array{std::byte{flow.ip_protocol}});
    if (flow.sport != 0) is_port(0, flow.sport);
    if (flow.dport != 0) is_port(2, flow.dport);
  }

  void limit_rate() const {
    Message& message = write_.message();
    write_.one("limit", [&] {
      message.put_u64(NFTA_LIMIT_RATE, htobe64(kTracedPerSecond));
      message.put_u64(NFTA_LIMIT_UNIT, htobe64(1));  // Second.
      put_number(message, NFTA_LIMIT_BURST, kTracedPerSecond);
      put_number(message, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
    });
  }

  // meta nftrace set 1
  void trace() const {
    write_.one("immediate", [&] {
      put_number(write_.message(), NFTA_IMMEDIATE_DREG, ExpressionWriter::kRegister);
      write_.value(NFTA_IMMEDIATE_DATA, std::array{std::byte{1}});
    });
    write_.store_meta(NFT_META_NFTRACE);
  }

 private:
  void is_meta(std::uint32_t key, std::span<const std::byte> value) const {
    write_.load_meta(key);
    write_.is(value);
  }

  void is_header(std::uint32_t header, std::uint32_t offset, std::span<const std::byte> value) const {
    write_.load_payload(header, offset, static_cast<std::uint32_t>(value.size()));
    write_.is(value);
  }

  void is_port(std::uint32_t offset, std::uint16_t port) const {
    const std::uint16_t wire = htobe16(port);
    is_header(NFT_PAYLOAD_TRANSPORT_HEADER, offset, std::as_bytes(std::span(&wire, 1)));
  }

  ExpressionWriter write_;
};

Message tracing_rule(std::string_view table, std::string_view chain, const path::Packet& flow) {
  Message out = message_of(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, NFPROTO_INET);
  out.put_text(kTableAttribute, table);
  out.put_text(NFTA_RULE_CHAIN, chain);
  out.put_nested(NFTA_RULE_EXPRESSIONS, [&] {
    Tracing tracing(out);
    tracing.match(flow);
    tracing.limit_rate();
    tracing.trace();
  });
  return out;
}

}  // namespace

Requests trace_table(std::string_view name, const path::Packet& flow) {
  Requests out(name);
  out.add_table();
  put_number(out.messages().back(), NFTA_TABLE_FLAGS, NFT_TABLE_F_OWNER);
  out.add_chain(kTracePre, {.type = "filter", .number = NF_INET_PRE_ROUTING, .priority = kFirst});
  out.add_chain(kTraceOut, {.type = "filter", .number = NF_INET_LOCAL_OUT, .priority = kFirst});
  out.add_chain(kTraceForward, {.type = "filter", .number = NF_INET_FORWARD, .priority = kFirst});
  out.add_chain(kTracePost, {.type = "filter", .number = NF_INET_POST_ROUTING, .priority = kLast});
  out.add_chain(kTraceIn, {.type = "filter", .number = NF_INET_LOCAL_IN, .priority = kLast});
  for (const std::string_view chain : {kTracePre, kTraceOut}) {
    out.messages().push_back(tracing_rule(name, chain, flow));
  }
  return out;
}

}  // namespace kernel::nft
