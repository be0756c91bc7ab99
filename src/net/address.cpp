#include "net/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

#include <fmt/format.h>

namespace net {
namespace {

constexpr std::array<std::byte, 12> kMappedPrefix = {std::byte{}, std::byte{}, std::byte{},     std::byte{},
                                                     std::byte{}, std::byte{}, std::byte{},     std::byte{},
                                                     std::byte{}, std::byte{}, std::byte{0xff}, std::byte{0xff}};

}  // namespace

std::string_view text(Family family) {
  return family == Family::v4 ? "IPv4" : "IPv6";
}

base::Result<Address> Address::parse(std::string_view text) {
  const auto wrong = [&] { return base::fail(base::Fault::invalid, fmt::format("\"{}\" is not an IP address", text)); };
  // inet_pton takes exactly the strict forms; a NUL inside the text would hide what follows it.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return wrong();
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  std::ranges::copy(text, terminated.begin());

  const bool is_v6 = text.find(':') != std::string_view::npos;
  std::array<std::byte, 16> raw{};
  if (::inet_pton(is_v6 ? AF_INET6 : AF_INET, terminated.data(), raw.data()) != 1) return wrong();
  return from_bytes(std::span(raw).first(is_v6 ? 16 : 4));
}

base::Result<Address> Address::from_bytes(std::span<const std::byte> bytes) {
  Address address;
  if (bytes.size() == 16 && std::ranges::equal(bytes.first(12), kMappedPrefix)) bytes = bytes.subspan(12);
  if (bytes.size() != 4 && bytes.size() != 16) {
    return base::fail(base::Fault::invalid, fmt::format("an IP address has 4 or 16 bytes, not {}", bytes.size()));
  }
  address.family_ = bytes.size() == 4 ? Family::v4 : Family::v6;
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

std::span<const std::byte> Address::bytes() const {
  return std::span(bytes_).first(family_ == Family::v4 ? 4 : 16);
}

bool Address::is_unspecified() const {
  return std::ranges::all_of(bytes_, [](std::byte byte) { return byte == std::byte{}; });
}

std::string Address::text() const {
  if (family_ == Family::v4) {
    return fmt::format("{}.{}.{}.{}", std::to_integer<int>(bytes_[0]), std::to_integer<int>(bytes_[1]),
                       std::to_integer<int>(bytes_[2]), std::to_integer<int>(bytes_[3]));
  }
  // Not inet_ntop: it prints some addresses (::1.2.3.4) in the mixed form that RFC 5952 leaves to known prefixes.
  std::array<unsigned, 8> groups;
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = std::to_integer<unsigned>(bytes_[2 * i]) << 8U | std::to_integer<unsigned>(bytes_[2 * i + 1]);
  }
  std::size_t zeros_at = 8;  // The first longest run of at least two zero groups becomes "::".
  std::size_t zeros = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > zeros) zeros_at = i, zeros = end - i;
    i = std::max(i, end);
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zeros_at) {
      out += "::";
      i += zeros - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    fmt::format_to(std::back_inserter(out), "{:x}", groups[i]);
  }
  return out;
}

Address Address::masked(int length) const {
  if (length >= bits()) return *this;
  Address out = *this;
  for (int i = 0; i < bits() / 8; ++i) {
    const int kept = std::clamp(length - 8 * i, 0, 8);
    out.bytes_[static_cast<std::size_t>(i)] &= static_cast<std::byte>(0xff00U >> static_cast<unsigned>(kept));
  }
  return out;
}

}  // namespace net

std::size_t std::hash<net::Address>::operator()(const net::Address& address) const noexcept {
  std::array<std::uint64_t, 2> words{};
  const auto bytes = address.bytes();
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::uint64_t mixed = (words[0] + bytes.size()) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 32U) ^ words[1]) * 0xd6e8feb86659fd93U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
}
