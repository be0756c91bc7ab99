#include "net/prefix.h"

#include <charconv>

#include <fmt/format.h>

namespace net {
namespace {

// Decimal, no sign, no leading zero.
base::Result<int> parse_length(std::string_view text, int most) {
  int length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || text.front() == '-' || (text.size() > 1 && text.front() == '0') || length > most) {
    return base::fail(base::Fault::invalid,
                      fmt::format("prefix length \"{}\" is not a number from 0 to {}", text, most));
  }
  return length;
}

}  // namespace

base::Result<Prefix> Prefix::parse(std::string_view text) {
  const auto slash = text.rfind('/');
  if (slash == std::string_view::npos) {
    if (const auto address = Address::parse(text)) {
      return base::fail(base::Fault::invalid,
                        fmt::format("\"{}\" has no prefix length: write {}/{} for this one address", text,
                                    address->text(), address->bits()));
    }
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is not a prefix such as 192.0.2.0/24", text));
  }
  const auto address = TRY(base::within(fmt::format("prefix \"{}\"", text), Address::parse(text.substr(0, slash))));
  // The length of an IPv4-mapped prefix counts the 96 bits in front, and Go refuses to unmap it: so do we.
  if (address.family() == Family::v4 && text.find(':') != std::string_view::npos) {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\": write the IPv4 prefix itself", text));
  }
  const int length =
      TRY(base::within(fmt::format("prefix \"{}\"", text), parse_length(text.substr(slash + 1), address.bits())));
  return Prefix(address, length);
}

std::string Prefix::text() const {
  return fmt::format("{}/{}", address_.text(), length_);
}

}  // namespace net
