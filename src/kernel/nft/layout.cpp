#include "kernel/nft/layout.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>

namespace kernel::nft {
namespace {

// At the place of `mangle`: after conntrack has found the connection, before routing.
constexpr std::int32_t kManglePriority = -150;

LoadCt original(std::uint32_t key) {
  return {.key = key, .direction = IP_CT_DIR_ORIGINAL};
}

// ct direction reply jump reply
Expressions judge_replies() {
  return {LoadCt{.key = NFT_CT_DIRECTION}, IsByte{IP_CT_DIR_REPLY}, Verdict{NFT_JUMP, "reply"}};
}

// ip saddr vmap @src4
//
// The kernel walks a verdict map's elements when one is added (nft_lookup_validate), and would not walk a map of marks
// whose value is looked up in a second, small map of chains. But nft 1.0.6 cannot write two lookups in a row, and
// aborts where it lists them: `nft list ruleset` would fail for everybody.
Expressions by_source(std::uint8_t family, LoadHeader source, const char* map) {
  return {LoadMeta{.key = NFT_META_NFPROTO}, IsByte{family}, source, Follow{map}};
}

}  // namespace

std::uint32_t flags_of(const Set& set) {
  return set.is_map ? NFT_SET_MAP : NFT_SET_INTERVAL;
}

std::uint32_t key_type_of(const Set& set) {
  return set.family == net::Family::v4 ? 7 : 8;
}

std::uint32_t key_length_of(const Set& set) {
  return set.family == net::Family::v4 ? 4 : 16;
}

std::vector<BaseChain> base_chains() {
  return {{"reply", {}},
          {"pre", {.type = "filter", .number = NF_INET_PRE_ROUTING, .priority = kManglePriority}},
          {"out", {.type = "route", .number = NF_INET_LOCAL_OUT, .priority = kManglePriority}}};
}

// Replies are judged first: a source's chain then sees whether the packet bears a reply's mark. Sources are matched in
// prerouting alone: in output they would also catch sockets that are bound to no address, which a `from` rule does not.
std::vector<BaseRule> base_rules() {
  const Verdict kReturn{NFT_RETURN, ""};
  return {
      {"reply", {original(NFT_CT_SRC_IP), IsIn{"own4"}, kReturn}},   // ct original ip saddr @own4 return
      {"reply", {original(NFT_CT_SRC_IP6), IsIn{"own6"}, kReturn}},  // ct original ip6 saddr @own6 return
      {"reply", {original(NFT_CT_DST_IP), Follow{"vip4"}}},          // ct original ip daddr vmap @vip4
      {"reply", {original(NFT_CT_DST_IP6), Follow{"vip6"}}},         // ct original ip6 daddr vmap @vip6
      {"pre", judge_replies()},
      {"pre", by_source(NFPROTO_IPV4, {.offset = 12, .length = 4}, "src4")},
      {"pre", by_source(NFPROTO_IPV6, {.offset = 8, .length = 16}, "src6")},
      {"out", judge_replies()},
  };
}

// meta mark set meta mark & ~window | mark
Expressions set_mark(std::uint32_t window, std::uint32_t mark) {
  return {LoadMeta{.key = NFT_META_MARK}, Bits{.mask = ~window, .flip = mark}, StoreMark()};
}

// meta mark & window == reply goto both
Expressions join(std::uint32_t window, std::uint32_t reply, std::string both) {
  return {LoadMeta{.key = NFT_META_MARK}, Bits{.mask = window}, IsWord{reply}, Verdict{NFT_GOTO, std::move(both)}};
}

}  // namespace kernel::nft
