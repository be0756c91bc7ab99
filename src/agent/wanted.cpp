#include "agent/wanted.h"

#include "net/address.h"

namespace agent {

state::NetState rules_of(std::span<const api::IPRuleConfig* const> configs) {
  state::NetState out;
  for (const api::IPRuleConfig* config : configs) {
    const auto address = net::Address::parse(config->spec.service_ip);
    if (!address || config->spec.state != api::ConfigState::present) continue;
    state::Rule rule{
        .family = address->family(), .priority = config->spec.priority, .protocol = 183, .table = config->spec.table};
    rule.selector.from = net::Prefix::host(*address);
    out.rules.push_back(rule);
  }
  return out;
}

}  // namespace agent
