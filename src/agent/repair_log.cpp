#include "agent/repair_log.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "state/words.h"

namespace agent {
namespace {

using Drifted = api::NodeState::Drifted;

struct Meaning {
  std::string_view verb;  // Of a line of a plan: what had to be done,
  std::string_view wanted;
  std::string_view found;  // because it was so.
};
constexpr std::array<Meaning, 7> kMeanings = {{{"add ", "present", "missing"},
                                               {"create ", "present", "missing"},
                                               {"put ", "present", "missing"},
                                               {"remove ", "absent", "present"},
                                               {"delete ", "absent", "present"},
                                               {"set ", "as made", "changed"},
                                               {"replace ", "as made", "changed"}}};

// Without who made it: that is us.
std::string_view without_protocol(std::string_view object) {
  return object.substr(0, object.find(" proto "));
}

Drifted entry_of(std::string_view change) {
  for (const auto& [verb, wanted, found] : kMeanings) {
    if (!change.starts_with(verb)) continue;
    return {.object = std::string(without_protocol(change.substr(verb.size()))),
            .wanted = std::string(wanted),
            .found = std::string(found),
            .likely = {}};
  }
  return {.object = std::string(change), .wanted = "as made", .found = "changed", .likely = {}};
}

// By the trace that it left: who removes one rule among many is another than who removes all.
std::string likely_cause(bool is_rule, const Repairs& repairs) {
  if (!is_rule) return repairs.lost_table ? "nft flush ruleset" : "";
  if (repairs.rules_wanted > 1 && repairs.rules_put_back >= repairs.rules_wanted) return "ip rule flush";
  return repairs.often ? "systemd-networkd" : "";
}

// "IPv4 rule 1000: from 10.96.23.17" and "lookup 100"
std::pair<std::string, std::string> halves(state::Rule rule) {
  rule.protocol = 0;
  const std::string whole = fmt::format("{} rule {}", net::text(rule.family), state::text(rule));
  const auto at = whole.find(" lookup ");
  if (at == std::string::npos) return {whole, whole};
  return {whole.substr(0, at), whole.substr(at + 1)};
}

}  // namespace

void Repairs::add(const plan::Op& op, std::string_view text) {
  if (std::holds_alternative<plan::AddRule>(op)) ++rules_put_back;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lost_table = lost_table || line.starts_with("create table ");
    if (++count <= RepairLog::kMost) changes.emplace_back(line);
  }
}

void RepairLog::note(const Repairs& repairs) {
  const auto took = static_cast<std::int32_t>(std::min<std::int64_t>(repairs.took.count(), INT32_MAX));
  const auto put = [&](Drifted entry, bool is_rule) {
    entry.likely = likely_cause(is_rule, repairs);
    entry.repaired = repairs.at;
    entry.took_ms = took;
    note(std::move(entry));
  };
  if (repairs.count > kMost) {  // One by one they would push out all that is known.
    const bool are_rules = repairs.rules_put_back > 0;
    return put({.object = are_rules ? "many rules" : "many marks",
                .wanted = "present",
                .found = fmt::format("{} missing or changed", repairs.count),
                .likely = {}},
               are_rules);
  }
  for (const std::string& change : repairs.changes) {
    Drifted entry = entry_of(change);
    const bool is_rule = entry.object.starts_with("IPv4 rule ") || entry.object.starts_with("IPv6 rule ");
    put(std::move(entry), is_rule);
  }
}

void RepairLog::note(Drifted entry) {
  const auto known = std::ranges::find(latest_, entry.object, &Drifted::object);
  entry.repairs = known != latest_.end() ? known->repairs + 1 : 1;
  if (known != latest_.end()) {
    if (entry.likely.empty()) entry.likely = known->likely;
    latest_.erase(known);
  }
  latest_.insert(latest_.begin(), std::move(entry));
  if (latest_.size() > kMost) latest_.pop_back();
}

const std::vector<Drifted>& RepairLog::told(base::TimePoint now) {
  if (told_ != latest_ && (!told_at_ || now - *told_at_ >= kTellEvery)) {
    told_ = latest_;
    told_at_ = now;
  }
  return told_;
}

std::vector<Drifted> drift_beside_ours(const std::vector<plan::Clash>& clashes) {
  std::vector<Drifted> out;
  for (const plan::Clash& clash : clashes) {
    if (out.size() == api::NodeState::kMaxDrift - RepairLog::kMost) break;
    auto [object, wanted] = halves(clash.desired);
    const std::uint8_t maker = clash.foreign.protocol;
    out.push_back(
        {.object = std::move(object),
         .wanted = std::move(wanted),
         .found = halves(clash.foreign).second,
         .likely = maker == 0 ? "" : fmt::format("proto {}", state::words::named(state::words::kProtocols, maker))});
  }
  return out;
}

}  // namespace agent
