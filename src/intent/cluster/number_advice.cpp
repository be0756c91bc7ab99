#include "intent/cluster/number_advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "intent/cluster/desired.h"
#include "state/known_numbers.h"
#include "state/rule.h"

namespace intent {
namespace {

using state::KnownNumber;
using Kind = KnownNumber::Kind;
using Clash = KnownNumber::Clash;

std::string at_text(std::uint32_t number, const KnownNumber& known) {
  return fmt::format("{} is where {} {}", number, known.who, known.what);
}

// What is to be said of a rule at this priority; "" where it stands clear of the number.
std::string text_at(std::uint32_t priority, const KnownNumber& known) {
  if (known.kind != Kind::priority || known.clash == Clash::none) return "";
  if (known.covers(priority)) return at_text(priority, known);
  if (known.clash == Clash::at_it || priority > known.first) return "";
  return fmt::format("{} comes before the rule for local where {} has moved that to {}", priority, known.who,
                     known.first);
}

bool looks_at_main_first(const api::IPRule& rule) {
  const auto modes = rule.modes();
  return std::ranges::find(modes, api::SourceMode::reply) != modes.end() && rule.spec.source.prefer_main.value_or(true);
}

}  // namespace

std::vector<NumberAdvice> number_advice(const api::IPRule& rule, std::uint32_t default_priority) {
  std::vector<NumberAdvice> out;
  const api::IPRule::Spec& spec = rule.spec;
  const std::uint32_t priority = effective_priority(spec.priority, !spec.vrf.empty(), default_priority);
  const std::string field = spec.priority != 0 ? "spec.priority" : "the Agent's defaultPriority";
  for (const KnownNumber& known : state::known_numbers()) {
    std::string text = text_at(priority, known);
    if (text.empty() && looks_at_main_first(rule) && priority > 0) {
      const std::string before = text_at(priority - 1, known);
      if (!before.empty()) text = fmt::format("{} needs the one before it for its look at main: {}", priority, before);
    }
    if (!text.empty()) out.push_back({.field = field, .text = std::move(text)});
    const bool is_table = known.kind == Kind::table && known.clash != Clash::none && spec.vrf.empty();
    if (!is_table || !known.covers(spec.table)) continue;
    out.push_back({.field = "spec.table",
                   .text = at_text(spec.table, known),
                   .is_kernels = spec.table >= state::kTableDefault && spec.table <= state::kTableLocal});
  }
  return out;
}

}  // namespace intent
