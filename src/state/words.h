#pragma once

#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"

// The pieces that the text forms of this folder share: words, numbers, and the names `ip` has for some numbers.
// Errors begin with the field's name.
namespace state::words {

struct Name {
  unsigned number;
  std::string_view name;
};
using Names = std::span<const Name>;

extern const Names kTables;     // "main" for 254
extern const Names kProtocols;  // "static" for 4, as in iproute2's rt_protos
extern const Names kScopes;     // "link" for 253

// The name of a number, or its digits.
std::string named(Names names, unsigned number);

// Takes the next word off `rest`; empty at the end.
std::string_view next(std::string_view& rest);
// The same where a word must follow: "via: has no value".
base::Result<std::string_view> value_of(std::string_view field, std::string_view& rest);

std::unexpected<base::Error> refuse(std::string_view field, std::string_view reason);
std::unexpected<base::Error> not_understood(std::string_view field, std::string_view value);

// Decimal or 0x hexadecimal.
template <std::unsigned_integral Number>
base::Result<Number> number(std::string_view field, std::string_view text) {
  const bool hex = text.starts_with("0x");
  const std::string_view digits = hex ? text.substr(2) : text;
  Number out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return not_understood(field, text);
  return out;
}

template <std::unsigned_integral Number>
base::Result<Number> number_or_name(std::string_view field, std::string_view text, Names names) {
  for (const auto& [known, name] : names) {
    if (name == text) return static_cast<Number>(known);
  }
  return number<Number>(field, text);
}

base::Result<net::Address> address(std::string_view field, std::string_view text);
base::Result<net::InterfaceName> interface(std::string_view field, std::string_view text);

}  // namespace state::words
