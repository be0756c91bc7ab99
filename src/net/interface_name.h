#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace net {

// The name of a network interface, or none. What the kernel would refuse as a name cannot be held.
class InterfaceName {
 public:
  static constexpr std::size_t kMaxLength = 15;

  InterfaceName() = default;  // None.

  // 1 to 15 characters, no blank, '/' or ':', neither "." nor "..", as dev_valid_name() in the kernel.
  static base::Result<InterfaceName> parse(std::string_view text);

  bool empty() const { return name_[0] == '\0'; }
  std::string_view text() const { return name_.data(); }

  auto operator<=>(const InterfaceName&) const = default;

 private:
  std::array<char, kMaxLength + 1> name_{};
};

}  // namespace net

template <>
struct std::hash<net::InterfaceName> {
  std::size_t operator()(const net::InterfaceName& name) const noexcept {
    return std::hash<std::string_view>()(name.text());
  }
};
