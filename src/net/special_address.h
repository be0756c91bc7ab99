#pragma once

#include "net/address.h"

namespace net {

bool is_loopback(const Address& address);    // 127.0.0.0/8, ::1
bool is_link_local(const Address& address);  // 169.254.0.0/16, fe80::/10: one link's, and every link has the same.
bool is_multicast(const Address& address);   // 224.0.0.0/4, ff00::/8: many hosts, and never a source.

}  // namespace net
