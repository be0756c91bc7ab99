#include "kernel/nft/header.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <span>

#include "state/nft_table.h"

namespace kernel::nft {

static_assert(NFTA_TABLE_NAME == kTableAttribute && NFTA_CHAIN_TABLE == kTableAttribute &&
              NFTA_RULE_TABLE == kTableAttribute && NFTA_SET_TABLE == kTableAttribute &&
              NFTA_SET_ELEM_LIST_TABLE == kTableAttribute && NFTA_OBJ_TABLE == kTableAttribute &&
              NFTA_FLOWTABLE_TABLE == kTableAttribute);

std::uint16_t message_type(std::uint16_t kind) {
  return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8U | kind);
}

Message message_of(std::uint16_t kind, std::uint16_t flags, std::uint8_t family) {
  return Message(message_type(kind), flags, nfgenmsg{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0});
}

base::Result<bool> names_our_table(const Received& message) {
  std::span<const std::byte> rest = message.payload;
  if (TRY(take_header<nfgenmsg>(rest)).nfgen_family != NFPROTO_INET) return false;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == kTableAttribute) return TRY(attribute.text()) == state::kNftTableName;
  }
  return base::fail(base::Fault::kernel, "an object without a table");
}

}  // namespace kernel::nft
