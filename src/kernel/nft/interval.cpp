#include "kernel/nft/interval.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>

namespace kernel::nft {
namespace {

Key key_of(const net::Address& address) {
  Key out{};
  std::ranges::copy(address.bytes(), out.begin());
  return out;
}

// The one prefix from `first` to just before `behind`, or to the end where there is nothing behind.
std::optional<net::Prefix> prefix_between(const net::Address& first, const std::optional<Key>& behind) {
  for (int length = first.bits(); length >= 0 && first.masked(length) == first; --length) {
    const net::Prefix prefix(first, length);
    if (key_behind(prefix) == behind) return prefix;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Key> key_behind(const net::Prefix& prefix) {
  if (prefix.length() == 0) return std::nullopt;
  Key out = key_of(prefix.address());
  const int last = prefix.length() - 1;  // The lowest bit that counts.
  unsigned carry = 0x80U >> static_cast<unsigned>(last % 8);
  for (int i = last / 8; i >= 0 && carry != 0; --i) {
    std::byte& byte = out[static_cast<std::size_t>(i)];
    const unsigned sum = std::to_integer<unsigned>(byte) + carry;
    byte = static_cast<std::byte>(sum & 0xffU);
    carry = sum >> 8U;
  }
  return carry == 0 ? std::optional(out) : std::nullopt;
}

base::Result<std::set<net::Prefix>> prefixes_of(std::vector<IntervalEnd> ends, net::Family family) {
  // Where one interval ends and the next begins, the end comes first.
  std::ranges::sort(ends, {}, [](const IntervalEnd& end) { return std::tuple(end.key, !end.is_behind); });
  std::set<net::Prefix> out;
  std::optional<net::Address> first;
  const auto close = [&](const std::optional<Key>& behind) -> base::Status {
    const auto prefix = prefix_between(*first, behind);
    if (!prefix) return base::fail(base::Fault::kernel, "the interval from " + first->text() + " is no prefix");
    out.insert(out.end(), *prefix);
    first.reset();
    return {};
  };
  for (const IntervalEnd& end : ends) {
    if (end.is_behind) {
      if (first) TRY(close(end.key));  // nft ends the part before the first interval, too.
      continue;
    }
    if (first) return base::fail(base::Fault::kernel, "the interval from " + first->text() + " has no end");
    const std::size_t length = family == net::Family::v4 ? 4 : 16;
    const auto address = TRY(net::Address::from_bytes(std::span(end.key).first(length)));
    if (address.family() != family) return base::fail(base::Fault::kernel, address.text() + " is mapped");
    first = address;
  }
  if (first) TRY(close(std::nullopt));
  return out;
}

}  // namespace kernel::nft
