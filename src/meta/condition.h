#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/reader.h"
#include "json/writer.h"
#include "meta/time.h"

namespace meta {

enum class Truth : std::uint8_t { unknown, no, yes };

std::string_view text(Truth truth);  // "Unknown", "False", "True"

// A metav1.Condition.
struct Condition {
  std::string type;
  Truth status = Truth::unknown;
  std::int64_t observed_generation = 0;
  Time last_transition{};
  std::string reason;
  std::string message;

  static base::Result<Condition> decode(const json::Value& value);
  void encode(json::Object& out) const;
  bool operator==(const Condition&) const = default;
};

base::Result<std::vector<Condition>> decode_conditions(const json::Value& list);  // Absent is empty.
void encode_conditions(json::Object& status, const std::vector<Condition>& conditions);

const Condition* find(const std::vector<Condition>& conditions, std::string_view type);

// Puts `wanted` in its place. The transition time becomes `now` only where the status changes; so setting what is
// already there changes nothing, and the caller has nothing to write.
void set(std::vector<Condition>& conditions, Condition wanted, Time now);

}  // namespace meta
