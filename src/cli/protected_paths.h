#pragma once

#include <set>
#include <string>
#include <vector>

#include "net/address.h"
#include "plan/plan.h"

namespace cli {

// The lines of a plan that could change the way of packets that the node itself sends, to the API server, to gateways,
// to other nodes. A node sends from its own addresses and without our marks: a rule for another source, or for a mark,
// never meets these packets. `own`: the addresses of nodes.
std::vector<std::string> lines_about_node(const plan::Plan& plan, const std::set<net::Address>& own);

}  // namespace cli
