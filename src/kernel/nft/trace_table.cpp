#include "kernel/nft/trace_table.h"

#include <algorithm>
#include <array>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <span>

#include "kernel/nft/fields.h"

namespace kernel::nft {
namespace {

// Before all that could change a packet, but behind the reassembly of fragments (-400); and behind all that could.
constexpr std::int32_t kFirst = -350;
constexpr std::int32_t kLast = 400;

constexpr std::uint32_t kRegister = NFT_REG_1;

// The expressions of the one rule.
class Tracing {
 public:
  explicit Tracing(Message& message) : message_(message) {}

  void match(const path::Packet& flow) {
    const bool v4 = flow.to.family() == net::Family::v4;
    is_meta(NFT_META_NFPROTO, std::array{std::byte{v4 ? std::uint8_t{NFPROTO_IPV4} : std::uint8_t{NFPROTO_IPV6}}});
    if (!flow.iif.empty()) is_meta(NFT_META_IIFNAME, padded(flow.iif));
    if (!flow.from.is_unspecified()) is_header(NFT_PAYLOAD_NETWORK_HEADER, v4 ? 12 : 8, flow.from.bytes());
    is_header(NFT_PAYLOAD_NETWORK_HEADER, v4 ? 16 : 24, flow.to.bytes());
    is_meta(NFT_META_L4PROTO, std::array{std::byte{flow.ip_protocol}});
    if (flow.sport != 0) is_port(0, flow.sport);
    if (flow.dport != 0) is_port(2, flow.dport);
  }

  void limit_rate() {
    one("limit", [&] {
      message_.put_u64(NFTA_LIMIT_RATE, htobe64(kTracedPerSecond));
      message_.put_u64(NFTA_LIMIT_UNIT, htobe64(1));  // Second.
      put_number(message_, NFTA_LIMIT_BURST, kTracedPerSecond);
      put_number(message_, NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
    });
  }

  // meta nftrace set 1
  void trace() {
    one("immediate", [&] {
      put_number(message_, NFTA_IMMEDIATE_DREG, kRegister);
      put_value(NFTA_IMMEDIATE_DATA, std::array{std::byte{1}});
    });
    one("meta", [&] {
      put_number(message_, NFTA_META_KEY, NFT_META_NFTRACE);
      put_number(message_, NFTA_META_SREG, kRegister);
    });
  }

 private:
  template <typename Fill>
  void one(std::string_view name, Fill fill) {
    message_.put_nested(NFTA_LIST_ELEM, [&] {
      message_.put_text(NFTA_EXPR_NAME, name);
      message_.put_nested(NFTA_EXPR_DATA, fill);
    });
  }

  void put_value(std::uint16_t type, std::span<const std::byte> value) {
    message_.put_nested(type, [&] { message_.put_bytes(NFTA_DATA_VALUE, value); });
  }

  void is(std::span<const std::byte> value) {
    one("cmp", [&] {
      put_number(message_, NFTA_CMP_SREG, kRegister);
      put_number(message_, NFTA_CMP_OP, NFT_CMP_EQ);
      put_value(NFTA_CMP_DATA, value);
    });
  }

  void is_meta(std::uint32_t key, std::span<const std::byte> value) {
    one("meta", [&] {
      put_number(message_, NFTA_META_KEY, key);
      put_number(message_, NFTA_META_DREG, kRegister);
    });
    is(value);
  }

  void is_header(std::uint32_t base, std::uint32_t offset, std::span<const std::byte> value) {
    one("payload", [&] {
      put_number(message_, NFTA_PAYLOAD_DREG, kRegister);
      put_number(message_, NFTA_PAYLOAD_BASE, base);
      put_number(message_, NFTA_PAYLOAD_OFFSET, offset);
      put_number(message_, NFTA_PAYLOAD_LEN, static_cast<std::uint32_t>(value.size()));
    });
    is(value);
  }

  void is_port(std::uint32_t offset, std::uint16_t port) {
    const std::uint16_t wire = htobe16(port);
    is_header(NFT_PAYLOAD_TRANSPORT_HEADER, offset, std::as_bytes(std::span(&wire, 1)));
  }

  static std::array<std::byte, IFNAMSIZ> padded(const net::InterfaceName& name) {
    std::array<std::byte, IFNAMSIZ> out{};
    std::ranges::copy(std::as_bytes(std::span(name.text())), out.begin());
    return out;
  }

  Message& message_;
};

Message tracing_rule(std::string_view table, std::string_view chain, const path::Packet& flow) {
  Message out(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8U | NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND,
              nfgenmsg{.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0, .res_id = 0});
  out.put_text(NFTA_RULE_TABLE, table);
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
