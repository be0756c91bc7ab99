#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "net/prefix.h"

namespace intent {

// Finds every prefix that contains an address in time that does not depend on how many prefixes there are.
template <typename T>
class PrefixTrie {
 public:
  void insert(const net::Prefix& prefix, T value) {
    std::uint32_t at = root(prefix.family());
    for (int bit = 0; bit < prefix.length(); ++bit) {
      const std::size_t side = bit_of(prefix.address(), bit);
      if (nodes_[at].below[side] == 0) {
        nodes_[at].below[side] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      at = nodes_[at].below[side];
    }
    if (nodes_[at].values == 0) {
      nodes_[at].values = static_cast<std::uint32_t>(values_.size());
      values_.emplace_back();
    }
    values_[nodes_[at].values].push_back(std::move(value));
  }

  // Calls visit(length, values) for each prefix that contains the address, the shortest first.
  template <typename Visit>
  void containing(const net::Address& address, Visit&& visit) const {
    std::uint32_t at = root(address.family());
    for (int bit = 0;; ++bit) {
      if (nodes_[at].values != 0) visit(bit, std::span<const T>(values_[nodes_[at].values]));
      if (bit == address.bits()) return;
      at = nodes_[at].below[bit_of(address, bit)];
      if (at == 0) return;
    }
  }

 private:
  struct Node {
    std::array<std::uint32_t, 2> below{};  // 0: nothing there; no node points back to a root.
    std::uint32_t values = 0;              // 0: no prefix ends here.
  };

  static std::uint32_t root(net::Family family) { return family == net::Family::v4 ? 0 : 1; }
  static std::size_t bit_of(const net::Address& address, int bit) {
    const auto byte = std::to_integer<unsigned>(address.bytes()[static_cast<std::size_t>(bit / 8)]);
    return byte >> static_cast<unsigned>(7 - bit % 8) & 1U;
  }

  std::vector<Node> nodes_ = std::vector<Node>(2);
  std::vector<std::vector<T>> values_ = std::vector<std::vector<T>>(1);
};

}  // namespace intent
