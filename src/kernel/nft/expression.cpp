#include "kernel/nft/expression.h"

#include <array>
#include <endian.h>
#include <linux/netfilter/nf_tables.h>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "kernel/nft/expression_writer.h"
#include "kernel/nft/fields.h"

namespace kernel::nft {
namespace {

constexpr std::uint32_t kRegister = ExpressionWriter::kRegister;

// A value in the host's own order, as marks are.
template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

base::Result<std::span<const std::byte>> decode_value(const Attribute& data) {
  auto fields = TRY(Fields::read(data.value));
  const Attribute value = TRY(fields.need(NFTA_DATA_VALUE));
  TRY(fields.expect_no_more());
  return value.value;
}

base::Result<std::uint32_t> decode_word(const Attribute& data) {
  const Attribute value{.type = NFTA_DATA_VALUE, .value = TRY(decode_value(data))};
  return value.u32();
}

base::Status expect(Fields& fields, std::uint16_t type, std::uint32_t expected) {
  const std::uint32_t number = TRY(fields.number(type));
  if (number == expected) return {};
  return base::fail(base::Fault::kernel, fmt::format("attribute {} is {} instead of {}", type, number, expected));
}

struct Put {
  ExpressionWriter write;
  Message& message;

  void operator()(const LoadMeta& load) const { write.load_meta(load.key); }
  void operator()(const StoreMark&) const { write.store_meta(NFT_META_MARK); }
  void operator()(const LoadCt& load) const {
    write.one("ct", [&] {
      put_number(message, NFTA_CT_KEY, load.key);
      put_number(message, NFTA_CT_DREG, kRegister);
      if (load.direction) message.put_u8(NFTA_CT_DIRECTION, *load.direction);
    });
  }
  void operator()(const LoadHeader& load) const {
    write.load_payload(NFT_PAYLOAD_NETWORK_HEADER, load.offset, load.length);
  }
  void operator()(const Bits& bits) const {
    write.one("bitwise", [&] {
      put_number(message, NFTA_BITWISE_SREG, kRegister);
      put_number(message, NFTA_BITWISE_DREG, kRegister);
      put_number(message, NFTA_BITWISE_LEN, sizeof bits.mask);
      write.value(NFTA_BITWISE_MASK, bytes_of(bits.mask));
      write.value(NFTA_BITWISE_XOR, bytes_of(bits.flip));
    });
  }
  void operator()(const IsByte& is) const { write.is(bytes_of(is.value)); }
  void operator()(const IsWord& is) const { write.is(bytes_of(is.value)); }
  void operator()(const IsIn& is) const {
    write.one("lookup", [&] {
      message.put_text(NFTA_LOOKUP_SET, is.set);
      put_number(message, NFTA_LOOKUP_SREG, kRegister);
    });
  }
  void operator()(const Follow& follow) const {
    write.one("lookup", [&] {
      message.put_text(NFTA_LOOKUP_SET, follow.map);
      put_number(message, NFTA_LOOKUP_SREG, kRegister);
      put_number(message, NFTA_LOOKUP_DREG, NFT_REG_VERDICT);
    });
  }
  void operator()(const Verdict& verdict) const {
    write.one("immediate", [&] {
      put_number(message, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
      put_verdict(message, NFTA_IMMEDIATE_DATA, verdict.code, verdict.chain);
    });
  }
};

base::Result<Expression> decode_meta(Fields& fields) {
  const std::uint32_t key = TRY(fields.number(NFTA_META_KEY));
  if (key == NFT_META_MARK) {
    if (const auto source = TRY(fields.number_or(NFTA_META_SREG, 0)); source != 0) {
      if (source != kRegister) return base::fail(base::Fault::kernel, "another register");
      return StoreMark();
    }
  }
  TRY(expect(fields, NFTA_META_DREG, kRegister));
  return LoadMeta{.key = key};
}

base::Result<Expression> decode_ct(Fields& fields) {
  LoadCt out{.key = TRY(fields.number(NFTA_CT_KEY))};
  TRY(expect(fields, NFTA_CT_DREG, kRegister));
  if (const auto direction = fields.take(NFTA_CT_DIRECTION)) out.direction = TRY(direction->u8());
  return out;
}

base::Result<Expression> decode_payload(Fields& fields) {
  TRY(expect(fields, NFTA_PAYLOAD_DREG, kRegister));
  TRY(expect(fields, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER));
  const std::uint32_t offset = TRY(fields.number(NFTA_PAYLOAD_OFFSET));
  return LoadHeader{.offset = offset, .length = TRY(fields.number(NFTA_PAYLOAD_LEN))};
}

base::Result<Expression> decode_bitwise(Fields& fields) {
  TRY(expect(fields, NFTA_BITWISE_SREG, kRegister));
  TRY(expect(fields, NFTA_BITWISE_DREG, kRegister));
  TRY(expect(fields, NFTA_BITWISE_LEN, sizeof(std::uint32_t)));
  const Attribute mask = TRY(fields.need(NFTA_BITWISE_MASK));
  const Attribute flip = TRY(fields.need(NFTA_BITWISE_XOR));
  const std::uint32_t masked = TRY(decode_word(mask));
  return Bits{.mask = masked, .flip = TRY(decode_word(flip))};
}

base::Result<Expression> decode_compare(Fields& fields) {
  TRY(expect(fields, NFTA_CMP_SREG, kRegister));
  TRY(expect(fields, NFTA_CMP_OP, NFT_CMP_EQ));
  const Attribute data = TRY(fields.need(NFTA_CMP_DATA));
  const Attribute value{.type = NFTA_DATA_VALUE, .value = TRY(decode_value(data))};
  if (value.value.size() == sizeof(std::uint8_t)) return IsByte{.value = TRY(value.u8())};
  return IsWord{.value = TRY(value.u32())};
}

base::Result<Expression> decode_lookup(Fields& fields) {
  std::string set = TRY(fields.text(NFTA_LOOKUP_SET));
  TRY(expect(fields, NFTA_LOOKUP_SREG, kRegister));
  if (const auto target = fields.take(NFTA_LOOKUP_DREG)) {
    if (TRY(target->u32()) != NFT_REG_VERDICT) return base::fail(base::Fault::kernel, "another register");
    return Follow{.map = std::move(set)};
  }
  return IsIn{.set = std::move(set)};
}

base::Result<Expression> decode_immediate(Fields& fields) {
  TRY(expect(fields, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT));
  const Attribute data = TRY(fields.need(NFTA_IMMEDIATE_DATA));
  return TRY(decode_verdict_data(data)).kept();
}

struct Known {
  std::string_view name;
  base::Result<Expression> (*decode)(Fields&);
};
constexpr std::array kKnown = {Known{"meta", decode_meta},          Known{"ct", decode_ct},
                               Known{"payload", decode_payload},    Known{"bitwise", decode_bitwise},
                               Known{"cmp", decode_compare},        Known{"lookup", decode_lookup},
                               Known{"immediate", decode_immediate}};

base::Result<Expression> decode_expression(const Attribute& element) {
  auto outer = TRY(Fields::read(element.value));
  const std::string name = TRY(outer.text(NFTA_EXPR_NAME));
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    const Attribute data = TRY(outer.need(NFTA_EXPR_DATA));
    auto fields = TRY(Fields::read(data.value));
    auto out = TRY(base::within(name, known.decode(fields)));
    TRY(base::within(name, fields.expect_no_more()));
    return out;
  }
  return base::fail(base::Fault::kernel, fmt::format("expression {}", name));
}

}  // namespace

void put_expressions(Message& message, std::uint16_t type, const Expressions& expressions) {
  message.put_nested(type, [&] {
    const Put put{.write = ExpressionWriter(message), .message = message};
    for (const Expression& expression : expressions) std::visit(put, expression);
  });
}

base::Result<Expressions> decode_expressions(const Attribute& list) {
  Expressions out;
  std::span<const std::byte> rest = list.value;
  while (!rest.empty()) {
    const Attribute element = TRY(next_attribute(rest));
    out.push_back(TRY(decode_expression(element)));
  }
  return out;
}

void put_verdict(Message& message, std::uint16_t type, std::int32_t code, std::string_view chain) {
  message.put_nested(type, [&] {
    message.put_nested(NFTA_DATA_VERDICT, [&] {
      put_number(message, NFTA_VERDICT_CODE, static_cast<std::uint32_t>(code));
      if (!chain.empty()) message.put_text(NFTA_VERDICT_CHAIN, chain);
    });
  });
}

// Without Fields: a map may have tens of thousands.
base::Result<VerdictView> decode_verdict(std::span<const std::byte> attributes) {
  VerdictView out;
  bool has_code = false;
  while (!attributes.empty()) {
    const Attribute attribute = TRY(next_attribute(attributes));
    if (attribute.type == NFTA_VERDICT_CODE) {
      out.code = static_cast<std::int32_t>(be32toh(TRY(attribute.u32())));
      has_code = true;
    } else if (attribute.type == NFTA_VERDICT_CHAIN) {
      out.chain = TRY(attribute.text());
    } else if (!attribute.says_nothing()) {
      return base::fail(base::Fault::kernel, fmt::format("a verdict with attribute {}", attribute.type));
    }
  }
  if (!has_code) return base::fail(base::Fault::kernel, "a verdict without a code");
  return out;
}

base::Result<VerdictView> decode_verdict_data(const Attribute& data) {
  std::span<const std::byte> rest = data.value;
  const Attribute verdict = rest.empty() ? Attribute{} : TRY(next_attribute(rest));
  if (verdict.type != NFTA_DATA_VERDICT || !rest.empty()) return base::fail(base::Fault::kernel, "no verdict");
  return decode_verdict(verdict.value);
}

}  // namespace kernel::nft
