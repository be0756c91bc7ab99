#include "net/special_address.h"

#include <string_view>

#include "net/prefix.h"

namespace net {
namespace {

bool is_within(const Address& address, std::string_view v4, std::string_view v6) {
  const auto range = Prefix::parse(address.family() == Family::v4 ? v4 : v6);
  return range && range->contains(address);
}

}  // namespace

bool is_loopback(const Address& address) {
  return is_within(address, "127.0.0.0/8", "::1/128");
}

bool is_link_local(const Address& address) {
  return is_within(address, "169.254.0.0/16", "fe80::/10");
}

bool is_multicast(const Address& address) {
  return is_within(address, "224.0.0.0/4", "ff00::/8");
}

}  // namespace net
