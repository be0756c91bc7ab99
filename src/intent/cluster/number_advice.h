#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/iprule.h"

namespace intent {

inline constexpr std::string_view kNumberOfOthers = "IPR0405";

// What the author of an IPRule should know about a number of its: who else uses it, and for what.
struct NumberAdvice {
  std::string field;  // "spec.priority"
  std::string text;   // "100 is where Cilium keeps the rule for local, which it moves from 0"
  bool is_kernels = false;

  bool operator==(const NumberAdvice&) const = default;
};

// Of the one list of such numbers (state::known_numbers). Whether that program runs on any node is another question;
// what the kernel itself has is there on every one.
std::vector<NumberAdvice> number_advice(const api::IPRule& rule, std::uint32_t default_priority);

}  // namespace intent
