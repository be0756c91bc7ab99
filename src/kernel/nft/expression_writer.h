#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/netfilter/nf_tables.h>
#include <span>
#include <string_view>

#include "kernel/netlink/message.h"
#include "kernel/nft/fields.h"

namespace kernel::nft {

// Expressions as the kernel reads them: each has a name and attributes of its own. All of ours work on one register.
class ExpressionWriter {
 public:
  static constexpr std::uint32_t kRegister = NFT_REG_1;

  // Inside the nest of `message` that takes them, such as NFTA_RULE_EXPRESSIONS.
  explicit ExpressionWriter(Message& message) : message_(message) {}

  Message& message() const { return message_; }

  template <typename Fill>
  void one(std::string_view name, Fill fill) const {
    message_.put_nested(NFTA_LIST_ELEM, [&] {
      message_.put_text(NFTA_EXPR_NAME, name);
      message_.put_nested(NFTA_EXPR_DATA, fill);
    });
  }
  void value(std::uint16_t type, std::span<const std::byte> bytes) const {
    message_.put_nested(type, [&] { message_.put_bytes(NFTA_DATA_VALUE, bytes); });
  }

  void load_meta(std::uint32_t key) const {
    one("meta", [&] {
      put_number(message_, NFTA_META_KEY, key);
      put_number(message_, NFTA_META_DREG, kRegister);
    });
  }
  void store_meta(std::uint32_t key) const {
    one("meta", [&] {
      put_number(message_, NFTA_META_KEY, key);
      put_number(message_, NFTA_META_SREG, kRegister);
    });
  }
  // `header`: NFT_PAYLOAD_NETWORK_HEADER and its like.
  void load_payload(std::uint32_t header, std::uint32_t offset, std::uint32_t length) const {
    one("payload", [&] {
      put_number(message_, NFTA_PAYLOAD_DREG, kRegister);
      put_number(message_, NFTA_PAYLOAD_BASE, header);
      put_number(message_, NFTA_PAYLOAD_OFFSET, offset);
      put_number(message_, NFTA_PAYLOAD_LEN, length);
    });
  }
  // The rule ends here for a packet with another value in the register.
  void is(std::span<const std::byte> bytes) const {
    one("cmp", [&] {
      put_number(message_, NFTA_CMP_SREG, kRegister);
      put_number(message_, NFTA_CMP_OP, NFT_CMP_EQ);
      value(NFTA_CMP_DATA, bytes);
    });
  }

 private:
  Message& message_;
};

}  // namespace kernel::nft
