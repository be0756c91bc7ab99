#include "agent/foreign_order.h"

#include "net/prefix.h"

namespace agent {

std::optional<ForeignOrder> foreign_order(const api::Agent::Spec& spec) {
  const api::Agent::ForeignRules& said = spec.foreign_rules;
  if (said.policy == api::ForeignPolicy::ignore) return std::nullopt;
  ForeignOrder out{.scope = {.tables = said.tables, .includes_qualified = said.include_qualified}};
  out.scope.first_priority = said.priority_range.min.value_or(out.scope.first_priority);
  out.scope.last_priority = said.priority_range.max.value_or(out.scope.last_priority);
  for (const std::string& text : said.sources) {
    if (const auto source = net::Prefix::parse(text)) out.scope.sources.push_back(*source);
  }
  // What was not named is not removed, whatever the schema let through.
  out.prunes = said.policy == api::ForeignPolicy::prune && !out.scope.sources.empty() && !out.scope.tables.empty();
  return out;
}

}  // namespace agent
