#pragma once

#include <string>

#include "intent/cluster/desired.h"

namespace intent {

// "iprc-10-96-1-50": what an object for this source is called where nothing stands in the way. Different addresses have
// different names, and IPv4 ones never look like IPv6 ones.
std::string base_name(api::SourceMode mode, const net::Address& source);

// The same for an object; shards of endpoints are called by their group and number.
std::string base_name(const Tuple& tuple);

// "iprc-10-96-1-50-t100-p1000": where the base name is taken by another object.
std::string full_name(const Tuple& tuple);

}  // namespace intent
