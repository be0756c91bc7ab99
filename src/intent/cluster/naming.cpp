#include "intent/cluster/naming.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.h"

namespace intent {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kHashDigits = 10;

std::string_view prefix_of(api::SourceMode mode) {
  switch (mode) {
    case api::SourceMode::cluster_ip:
      return "iprc-";
    case api::SourceMode::load_balancer_ip:
      return "iprc-lb-";
    case api::SourceMode::endpoints:
    case api::SourceMode::local_endpoints:
      return "iprc-ep-";
    case api::SourceMode::reply:
      return "iprc-re-";
  }
  return "iprc-";
}

// Object names are DNS subdomains: lower case, and a VRF may be called anything.
bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos &&
         text.front() != '-' && text.back() != '-';
}

}  // namespace

std::string base_name(api::SourceMode mode, const net::Address& source) {
  std::string text = source.text();
  std::ranges::replace_if(text, [](char c) { return c == '.' || c == ':'; }, '-');
  if (text.ends_with('-')) text += '0';  // fd00:: would end in a dash, which no name may.
  return std::string(prefix_of(mode)) + text;
}

std::string base_name(const Tuple& tuple) {
  if (tuple.group.empty()) return base_name(tuple.mode, tuple.source);
  return fmt::format("{}{}-{}", prefix_of(tuple.mode), tuple.group, tuple.shard);
}

std::string full_name(const Tuple& tuple) {
  if (!tuple.group.empty()) return base_name(tuple);
  std::string name = fmt::format("{}-t{}-p{}", base_name(tuple.mode, tuple.source), tuple.table, tuple.priority);
  if (!tuple.vrf.empty()) {
    name += "-v" + (is_name(tuple.vrf) ? tuple.vrf : base::sha256_hex(tuple.vrf).substr(0, kHashDigits));
  }
  if (!tuple.node_selector.empty()) name += "-n" + base::sha256_hex(tuple.node_selector.text()).substr(0, 8);
  if (!tuple.prefer_main) name += "-own";
  if (name.size() <= kMaxName) return name;
  const std::string hash = base::sha256_hex(name).substr(0, kHashDigits);
  return name.substr(0, kMaxName - kHashDigits - 1) + "-" + hash;
}

}  // namespace intent
