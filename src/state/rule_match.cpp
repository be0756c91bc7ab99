#include "state/rule_match.h"

namespace state {
namespace {

// What is not in the request is not compared.
template <typename T>
bool agrees(const std::optional<T>& request, const std::optional<T>& rule) {
  return !request || request == rule;
}

// ops->compare(): source, destination and TOS, in both kinds of request.
bool family_part_agrees(const Selector& request, const Selector& rule) {
  return agrees(request.from, rule.from) && agrees(request.to, rule.to) &&
         (request.tos == 0 || request.tos == rule.tos);
}

std::uint32_t mark_value(const Selector& selector) {
  return selector.mark ? selector.mark->value : 0;
}
std::uint32_t mark_mask(const Selector& selector) {
  return selector.mark ? selector.mark->mask : 0;
}

}  // namespace

bool delete_takes(const Rule& request, const Rule& rule) {
  const Selector& want = request.selector;
  const Selector& have = rule.selector;
  return request.family == rule.family && request.action == rule.action &&
         (request.table == 0 || request.table == rule.table) && request.priority == rule.priority &&
         (want.iif.empty() || want.iif == have.iif) && (want.oif.empty() || want.oif == have.oif) &&
         (mark_value(want) == 0 || mark_value(want) == mark_value(have)) &&
         (mark_mask(want) == 0 || mark_mask(want) == mark_mask(have)) &&
         agrees(request.suppress_ifgroup, rule.suppress_ifgroup) &&
         agrees(request.suppress_prefixlength, rule.suppress_prefixlength) && (!request.l3mdev || rule.l3mdev) &&
         agrees(want.uids, have.uids) && (want.ip_protocol == 0 || want.ip_protocol == have.ip_protocol) &&
         (request.protocol == 0 || request.protocol == rule.protocol) && agrees(want.sport, have.sport) &&
         agrees(want.dport, have.dport) && family_part_agrees(want, have);
}

bool blocks_exclusive_add(const Rule& rule, const Rule& added) {
  const Selector& want = added.selector;
  const Selector& have = rule.selector;
  return added.family == rule.family && added.action == rule.action && added.table == rule.table &&
         added.priority == rule.priority && want.iif == have.iif && want.oif == have.oif &&
         mark_value(want) == mark_value(have) && mark_mask(want) == mark_mask(have) &&
         added.suppress_ifgroup == rule.suppress_ifgroup && added.suppress_prefixlength == rule.suppress_prefixlength &&
         added.l3mdev == rule.l3mdev && want.uids == have.uids && want.ip_protocol == have.ip_protocol &&
         added.protocol == rule.protocol && want.sport == have.sport && want.dport == have.dport &&
         family_part_agrees(want, have);
}

}  // namespace state
