#include "meta/condition.h"

#include <algorithm>

#include <fmt/format.h>

namespace meta {

std::string_view text(Truth truth) {
  switch (truth) {
    case Truth::unknown:
      return "Unknown";
    case Truth::no:
      return "False";
    case Truth::yes:
      return "True";
  }
  return "Unknown";
}

base::Result<Condition> Condition::decode(const json::Value& value) {
  Condition out;
  out.type = TRY(value["type"].string());
  const std::string_view status = TRY(value["status"].string());
  // A word of a later version is not a lie about the present: Unknown.
  out.status = status == "True" ? Truth::yes : status == "False" ? Truth::no : Truth::unknown;
  out.observed_generation = TRY(value["observedGeneration"].integer_or(std::int64_t{0}));
  out.last_transition = parse_time(TRY(value["lastTransitionTime"].string_or(""))).value_or(Time());
  out.reason = TRY(value["reason"].string_or(""));
  out.message = TRY(value["message"].string_or(""));
  return out;
}

void Condition::encode(json::Object& out) const {
  out.put("type", type);
  out.put("status", text(status));
  out.put_unless_empty("observedGeneration", observed_generation);
  out.put("lastTransitionTime", format_time(last_transition));
  out.put("reason", reason);
  out.put("message", message);
}

base::Result<std::vector<Condition>> decode_conditions(const json::Value& list) {
  std::vector<Condition> out;
  for (const json::Value& item : TRY(list.items_or_none())) out.push_back(TRY(Condition::decode(item)));
  return out;
}

void encode_conditions(json::Object& status, const std::vector<Condition>& conditions) {
  if (conditions.empty()) return;
  status.array("conditions", [&](json::Array& list) {
    for (const Condition& condition : conditions) list.object([&](json::Object& item) { condition.encode(item); });
  });
}

const Condition* find(const std::vector<Condition>& conditions, std::string_view type) {
  const auto at = std::ranges::find(conditions, type, &Condition::type);
  return at != conditions.end() ? &*at : nullptr;
}

void set(std::vector<Condition>& conditions, Condition wanted, Time now) {
  const auto at = std::ranges::find(conditions, wanted.type, &Condition::type);
  if (at == conditions.end()) {
    wanted.last_transition = now;
    conditions.push_back(std::move(wanted));
    return;
  }
  wanted.last_transition = at->status == wanted.status ? at->last_transition : now;
  *at = std::move(wanted);
}

}  // namespace meta
