#include "api/iprule_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/sha256.h"

namespace api {
namespace {

std::string sources_hash(std::vector<IPRuleConfig::SourceIP> sources) {
  std::ranges::sort(sources);
  std::string text;
  for (const auto& source : sources) text += fmt::format("{}@{}\n", source.address, source.node_name);
  return base::sha256_hex(text);
}

}  // namespace

base::Result<IPRuleConfig> decode_iprule_config(const json::Value& object) {
  return decode_object<IPRuleConfig>(object);
}

std::string encode(const IPRuleConfig& config) {
  return encode_object(config);
}

std::string spec_hash(const IPRuleConfig::Spec& spec) {
  std::string text = fmt::format("table={}|priority={}|serviceIP={}|state={}", spec.table, spec.priority,
                                 spec.service_ip, api::text(spec.state));
  if (!spec.vrf.empty()) text += fmt::format("|vrf={}", spec.vrf);
  if (!spec.node_selector.empty()) text += fmt::format("|nodeSelector={}", spec.node_selector.text());
  if (!spec.source_ips.empty()) text += fmt::format("|sources={}", sources_hash(spec.source_ips));
  if (spec.source_mode != SourceMode::cluster_ip) text += fmt::format("|mode={}", api::text(spec.source_mode));
  if (spec.route_table != 0) text += fmt::format("|routeTable={}", spec.route_table);
  if (spec.prefer_main) text += fmt::format("|preferMain={}", *spec.prefer_main);
  return base::sha256_hex(text);
}

}  // namespace api
