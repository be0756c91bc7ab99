#include "intent/cluster/cluster_prefixes.h"

#include <algorithm>

namespace intent {
namespace {

// The two halves of one prefix, the lower first.
bool are_halves(const net::Prefix& low, const net::Prefix& high) {
  if (low.family() != high.family() || low.length() != high.length() || low.length() == 0 || low == high) return false;
  return net::Prefix(low.address(), low.length() - 1) == net::Prefix(high.address(), high.length() - 1);
}

// In order, a prefix comes before those inside it, and a lower half before the upper one.
std::vector<net::Prefix> joined(std::vector<net::Prefix> prefixes) {
  std::ranges::sort(prefixes);
  std::vector<net::Prefix> out;
  for (const net::Prefix& prefix : prefixes) {
    if (!out.empty() && out.back().family() == prefix.family() && out.back().contains(prefix.address())) continue;
    out.push_back(prefix);
    while (out.size() > 1 && are_halves(out[out.size() - 2], out.back())) {
      out.pop_back();
      out.back() = net::Prefix(out.back().address(), out.back().length() - 1);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> cluster_prefixes(std::span<const api::Node* const> nodes,
                                          std::span<const std::string> cluster_cidrs) {
  std::vector<net::Prefix> all;
  for (const api::Node* node : nodes) {
    all.insert(all.end(), node->pod_cidrs.begin(), node->pod_cidrs.end());
    for (const net::Address& address : node->addresses) all.push_back(net::Prefix::host(address));
  }
  for (const std::string& text : cluster_cidrs) {
    if (const auto prefix = net::Prefix::parse(text)) all.push_back(*prefix);
  }
  std::vector<std::string> out;
  for (const net::Prefix& prefix : joined(std::move(all))) out.push_back(prefix.text());
  return out;
}

}  // namespace intent
