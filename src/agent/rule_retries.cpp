#include "agent/rule_retries.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <set>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstWait = 1s;
constexpr std::chrono::milliseconds kLongestWait = 60s;

bool is_wrong_in_itself(const base::Error& error) {
  constexpr std::array kWrong = {EINVAL, EOPNOTSUPP, ERANGE, EMSGSIZE};
  return error.fault() == base::Fault::invalid || std::ranges::find(kWrong, error.errno_value()) != kWrong.end();
}

bool stands_alone(const state::Rule& rule) {
  return rule.selector.from.has_value() && !rule.selector.mark;
}

}  // namespace

std::vector<state::Rule> RuleRetries::hold_back(state::NetState& wanted, base::TimePoint now) {
  std::vector<state::Rule> held;
  if (retries_.empty()) return held;
  std::set<state::Rule> still_wanted;
  std::erase_if(wanted.rules, [&](const state::Rule& rule) {
    const auto retry = retries_.find(rule);
    if (retry == retries_.end()) return false;
    still_wanted.insert(rule);
    if (retry->second.due && *retry->second.due <= now) return false;
    held.push_back(rule);
    return true;
  });
  std::erase_if(retries_, [&](const auto& entry) { return !still_wanted.contains(entry.first); });
  return held;
}

void RuleRetries::note(const kernel::Engine::Report& report, base::TimePoint now) {
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    const auto* add = std::get_if<plan::AddRule>(&report.done.ops[i]);
    if (add == nullptr || !stands_alone(add->rule)) continue;
    const kernel::OpResult& result = report.outcome.results.at(i);
    if (result.effect == kernel::Effect::failed) {
      refuse(add->rule, result.status.error(), now);
    } else {
      retries_.erase(add->rule);
    }
  }
}

void RuleRetries::refuse(const state::Rule& rule, const base::Error& error, base::TimePoint now) {
  // A stop is no refusal.
  if (error.fault() == base::Fault::cancelled) return;
  const auto [entry, is_new] =
      retries_.try_emplace(rule, Retry{.error = error, .backoff = base::Backoff(kFirstWait, kLongestWait, ++seed_)});
  Retry& retry = entry->second;
  retry.error = error;
  retry.due.reset();
  // At least half of the step: full jitter might try again at once, which helps nobody here.
  if (!is_wrong_in_itself(error)) retry.due = now + kFirstWait / 2 + retry.backoff.next();
}

std::vector<RefusedRule> RuleRetries::refused() const {
  std::vector<RefusedRule> out;
  for (const auto& [rule, retry] : retries_) out.push_back({.rule = rule, .error = retry.error});
  return out;
}

std::optional<base::TimePoint> RuleRetries::next_due() const {
  std::optional<base::TimePoint> out;
  for (const auto& [rule, retry] : retries_) {
    if (retry.due && (!out || *retry.due < *out)) out = retry.due;
  }
  return out;
}

}  // namespace agent
