#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"

// The few expressions that rules of ours are made of. Each works on one register, always the same.
namespace kernel::nft {

struct LoadMeta {
  std::uint32_t key = 0;  // NFT_META_MARK, NFT_META_NFPROTO
  bool operator==(const LoadMeta&) const = default;
};

struct LoadCt {
  std::uint32_t key = 0;                    // NFT_CT_DIRECTION, NFT_CT_SRC_IP and their like
  std::optional<std::uint8_t> direction{};  // IP_CT_DIR_ORIGINAL; where the key has one.
  bool operator==(const LoadCt&) const = default;
};

// Out of the network header.
struct LoadHeader {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  bool operator==(const LoadHeader&) const = default;
};

// The register's bits under the mask, then those of `flip` turned over.
struct Bits {
  std::uint32_t mask = 0;
  std::uint32_t flip = 0;
  bool operator==(const Bits&) const = default;
};

struct StoreMark {
  bool operator==(const StoreMark&) const = default;
};

// The rule ends here for a packet with another value in the register.
struct IsByte {
  std::uint8_t value = 0;
  bool operator==(const IsByte&) const = default;
};
struct IsWord {
  std::uint32_t value = 0;
  bool operator==(const IsWord&) const = default;
};
struct IsIn {
  std::string set{};
  bool operator==(const IsIn&) const = default;
};

// The verdict that the map has for the register.
struct Follow {
  std::string map{};
  bool operator==(const Follow&) const = default;
};

struct Verdict {
  std::int32_t code = 0;  // NFT_GOTO, NFT_JUMP, NFT_RETURN, NF_ACCEPT
  std::string chain{};    // For those that go somewhere.
  bool operator==(const Verdict&) const = default;
};

using Expression = std::variant<LoadMeta, LoadCt, LoadHeader, Bits, StoreMark, IsByte, IsWord, IsIn, Follow, Verdict>;
using Expressions = std::vector<Expression>;

// As the attribute `type` of a message: NFTA_RULE_EXPRESSIONS.
void put_expressions(Message& message, std::uint16_t type, const Expressions& expressions);
// An error names what is none of these.
base::Result<Expressions> decode_expressions(const Attribute& list);

// A verdict as it lies in a message.
struct VerdictView {
  std::int32_t code = 0;
  std::string_view chain{};

  Verdict kept() const { return {.code = code, .chain = std::string(chain)}; }
};

base::Result<VerdictView> decode_verdict(std::span<const std::byte> attributes);

// A verdict as the data of a set's element or of an expression.
void put_verdict(Message& message, std::uint16_t type, std::int32_t code, std::string_view chain);
base::Result<VerdictView> decode_verdict_data(const Attribute& data);

}  // namespace kernel::nft
