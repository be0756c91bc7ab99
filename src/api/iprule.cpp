#include "api/iprule.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"

namespace api {
namespace {

std::string join(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace

std::vector<SourceMode> IPRule::modes() const {
  return spec.source.modes.empty() ? std::vector{SourceMode::cluster_ip} : spec.source.modes;
}

base::Result<IPRule> decode_iprule(const json::Value& object) {
  return decode_object<IPRule>(object);
}

std::string encode(const IPRule& rule) {
  return encode_object(rule);
}

Acceptance accept(const IPRule& rule) {
  Acceptance out;
  std::vector<std::string> problems;
  const auto take = [&](std::string_view field, const std::string& text) {
    if (const auto prefix = net::Prefix::parse(text)) {
      out.prefixes.push_back(*prefix);
    } else {
      problems.push_back(fmt::format("{}: {}", field, prefix.error().message()));
    }
  };
  if (!rule.spec.cidr.empty()) take("spec.cidr", rule.spec.cidr);
  for (std::size_t i = 0; i < rule.spec.cidrs.size(); ++i) {
    take(fmt::format("spec.cidrs[{}]", i), rule.spec.cidrs[i]);
  }
  std::ranges::sort(out.prefixes);
  const auto copies = std::ranges::unique(out.prefixes);
  out.prefixes.erase(copies.begin(), copies.end());

  if (rule.spec.table == 0 && rule.spec.vrf.empty()) {
    out.reason = "TableUnset";
    out.message = "spec.table: 0 is no routing table; set spec.table to the table that holds the routes, or spec.vrf";
    out.prefixes.clear();
  } else if (out.prefixes.empty() && problems.empty()) {
    out.reason = "NoCIDR";
    out.message = "spec.cidrs: no prefix is given, so no address can match";
  } else if (out.prefixes.empty()) {
    out.reason = "InvalidCIDR";
    out.message = join(problems);
  } else if (!problems.empty()) {
    out.reason = "PartiallyInvalid";
    out.message = fmt::format("{}; the other prefixes are in use", join(problems));
  } else {
    out.reason = "Valid";
    out.message = fmt::format("{} prefix{} in use", out.prefixes.size(), out.prefixes.size() == 1 ? "" : "es");
  }
  return out;
}

}  // namespace api
