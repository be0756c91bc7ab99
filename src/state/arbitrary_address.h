#pragma once

#include <rapidcheck.h>

#include "state/address.h"

// For property tests, here and in the folders above.
namespace state {

// Any valid address in canonical form, on eth0 or eth1.
inline InterfaceAddress arbitrary_address() {
  using rc::gen::arbitrary;
  using rc::gen::element;
  const bool v4 = *arbitrary<bool>();
  InterfaceAddress out;
  out.dev = net::InterfaceName::parse(*element("eth0", "eth1")).value();
  out.local = net::Address::parse(v4 ? *element("10.0.0.2", "10.0.0.3") : *element("fd00::2", "fe80::2")).value();
  out.length = *rc::gen::inRange<std::uint8_t>(1, static_cast<std::uint8_t>(out.local.bits() + 1));
  if (*arbitrary<bool>()) out.peer = net::Address::parse(v4 ? "10.0.0.9" : "fd00::9").value();
  if (v4 && *arbitrary<bool>()) out.broadcast = net::Address::parse("10.0.0.255").value();
  out.scope = *element<std::uint8_t>(0, 200, 253, 254);
  if (v4 && *arbitrary<bool>()) out.label = std::string(out.dev.text()) + ":1";
  out.metric = *element(0U, 5U, 4294967295U);
  out.noprefixroute = *arbitrary<bool>();
  out.nodad = !v4 && *arbitrary<bool>();
  out.deprecated = *arbitrary<bool>();
  out.protocol = *element<std::uint8_t>(0, 4, 183);
  return canonical(out);
}

}  // namespace state
