#include "kernel/nft/statement.h"

#include <vector>

#include <fmt/format.h>

namespace kernel::nft {
namespace {

using json::Value;

base::Result<bool> is_mark(const Value& value) {
  if (!value["meta"].exists()) return false;
  return TRY(value["meta"]["key"].string()) == "mark";
}

// {"&": [mark, number]}
base::Result<std::uint32_t> masked_mark(const Value& value) {
  const auto operands = TRY(value["&"].items());
  if (operands.size() != 2 || !TRY(is_mark(operands[0]))) return value.fail("expected the mark and a mask");
  return operands[1].integer<std::uint32_t>();
}

// "ct original ip saddr", "ct direction", "ip saddr". Newer versions give the family of a ct key on its own.
base::Result<std::string> decode_key(const Value& value) {
  if (const Value payload = value["payload"]; payload.exists()) {
    return fmt::format("{} {}", TRY(payload["protocol"].string()), TRY(payload["field"].string()));
  }
  const Value ct = value["ct"];
  std::string out = "ct";
  for (const auto part : {TRY(ct["dir"].string_or("")), TRY(ct["family"].string_or("")), TRY(ct["key"].string())}) {
    if (!part.empty()) out += fmt::format(" {}", part);
  }
  return out;
}

// (mark & mask) ^ other, as the kernel has it: `|` is the same with the bits of `other` taken out of the mask.
base::Result<SetMark> decode_set_mark(const Value& mangle) {
  if (!TRY(is_mark(mangle["key"]))) return mangle.fail("writes something else than the mark");
  const Value value = mangle["value"];
  const bool is_or = value["|"].exists();
  const auto operands = TRY(value[is_or ? "|" : "^"].items());
  if (operands.size() != 2) return value.fail("expected two operands");
  // A class with all bits set needs no mask, and nft leaves it away.
  std::uint32_t mask = TRY(is_mark(operands[0])) ? ~std::uint32_t{0} : TRY(masked_mark(operands[0]));
  const auto other = TRY(operands[1].integer<std::uint32_t>());
  if (is_or) mask &= ~other;
  if ((mask & other) != 0) return value.fail("turns bits over instead of setting them");
  return SetMark{.bits = ~mask, .value = other};
}

base::Result<std::string> decode_match(const Value& match) {
  const auto op = TRY(match["op"].string());
  if (op != "==" && op != "in") return match.fail("compares otherwise than by equality");
  return fmt::format("{} {}", TRY(decode_key(match["left"])), TRY(match["right"].string()));
}

base::Result<std::string> decode_one(const json::Member& statement) {
  const auto& [name, value] = statement;
  if (name == "match") return decode_match(value);
  if (name == "vmap") {
    return fmt::format("{} vmap {}", TRY(decode_key(value["key"])), TRY(value["data"].string()));
  }
  if (name == "jump" || name == "goto") return fmt::format("{} {}", name, TRY(value["target"].string()));
  return value.fail("is no statement of ours");
}

// {"return": null} has a member without a value, which a reader of Kubernetes' JSON does not see.
base::Result<std::string> decode_words(const Value& expression) {
  const auto members = TRY(expression.members());
  if (members.empty() && expression.text() == R"({"return":null})") return std::string("return");
  if (members.size() != 1) return expression.fail("expected one statement");
  return decode_one(members.front());
}

base::Result<Statements::Join> decode_join(const Value& match, const Value& verdict) {
  if (TRY(match["op"].string()) != "==") return match.fail("compares otherwise than by equality");
  return Statements::Join{.bits = TRY(masked_mark(match["left"])),
                          .value = TRY(match["right"].integer<std::uint32_t>()),
                          .target = std::string(TRY(verdict["goto"]["target"].string()))};
}

}  // namespace

base::Result<Statements> decode_statements(const Value& expressions) {
  const auto items = TRY(expressions.items());
  Statements out;
  if (items.size() == 1 && items[0]["mangle"].exists()) {
    out.set_mark = TRY(decode_set_mark(items[0]["mangle"]));
    return out;
  }
  if (items.size() == 2 && items[0]["match"]["left"]["&"].exists()) {
    out.join = TRY(decode_join(items[0]["match"], items[1]));
    return out;
  }
  for (const Value& item : items) {
    if (!out.words.empty()) out.words += ' ';
    out.words += TRY(decode_words(item));
  }
  return out;
}

}  // namespace kernel::nft
