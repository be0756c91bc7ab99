#include "api/agent.h"

#include <algorithm>

#include "api/duration.h"
#include "api/object.h"

namespace api {
namespace {

using std::chrono::nanoseconds;

nanoseconds within_bounds(std::string_view text, nanoseconds fallback, nanoseconds least, nanoseconds most) {
  const auto given = parse_duration(text);
  return given ? std::clamp(*given, least, most) : fallback;
}

}  // namespace

base::Result<Agent> decode_agent(const json::Value& object) {
  return decode_object<Agent>(object);
}

std::string encode(const Agent& agent) {
  return encode_object(agent);
}

nanoseconds reconcile_period(const Agent::Spec& spec) {
  return within_bounds(spec.reconcile_period, std::chrono::seconds(10), std::chrono::seconds(1), std::chrono::hours(1));
}

nanoseconds absent_timeout(const Agent::Spec& spec) {
  return within_bounds(spec.absent_timeout, std::chrono::minutes(10), std::chrono::seconds(1), std::chrono::hours(24));
}

std::uint32_t default_priority(const Agent::Spec& spec) {
  return spec.default_priority != 0 ? spec.default_priority : kDefaultPriority;
}

}  // namespace api
