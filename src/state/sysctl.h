#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"

namespace state {

// The settings of a link that decide whether steered packets pass.
enum class SysctlName : std::uint8_t {
  rp_filter,       // IPv4: 0 off, 1 strict, 2 loose; the larger of the link's and all's is in force.
  src_valid_mark,  // IPv4: the reverse path check sees the packet's mark.
  accept_local,
  arp_ignore,
  arp_announce,
  arp_filter,
  forwarding,  // Both families.
};

struct Sysctl {
  net::Family family = net::Family::v4;
  SysctlName name = SysctlName::rp_filter;
  net::InterfaceName dev{};  // None: `all`.
  std::int32_t value = 0;

  auto operator<=>(const Sysctl&) const = default;
};

// What the kernel would refuse; the message begins with the field's name.
base::Status validate(const Sysctl& sysctl);

// Below /proc/sys: "net/ipv4/conf/eth0.5/rp_filter". With slashes, because names of links may have dots.
std::string path(const Sysctl& sysctl);

// As sysctl(8) takes it, with the slashes: "net/ipv4/conf/all/rp_filter = 2".
std::string text(const Sysctl& sysctl);
base::Result<Sysctl> parse_sysctl(std::string_view text);

}  // namespace state
