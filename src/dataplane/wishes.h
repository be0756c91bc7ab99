#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "dataplane/mark_class.h"
#include "dataplane/steering.h"
#include "net/address.h"

namespace dataplane {

using Addresses = std::vector<net::Address>;    // In order.
using Classes = std::map<ClassKey, Addresses>;  // With their members; none is without.

// What many objects wish for one address, put together: addresses with equal paths are in one class.
struct Gathered {
  Classes classes{};
  Addresses refused{};
};

// Refused: the protected ones, and the address that means a whole family.
Gathered gather_sources(std::span<const Source> sources, const std::set<net::Address>& protected_sources);

// Refused: what prefers `main` and leaves no place in front of it. Where objects for one VIP disagree about `main`, it
// is preferred: that keeps inside what belongs inside.
Gathered gather_replies(std::span<const Reply> replies);

std::set<net::Family> families(const Addresses& addresses);
std::set<net::Family> shared_families(const Addresses& one, const Addresses& other);

}  // namespace dataplane
