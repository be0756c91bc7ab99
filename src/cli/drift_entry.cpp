#include "cli/drift_entry.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "agent/drift.h"
#include "cli/age.h"
#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

using Drifted = api::NodeState::Drifted;

constexpr const char* kKernel = "Kernel";
constexpr const char* kRepaired = "Repaired";
constexpr const char* kForeign = "Foreign";
constexpr const char* kLeftAlone = "foreign, left alone";
constexpr const char* kOver = "over";
constexpr const char* kRepeatedCode = "IPR0314";
constexpr const char* kClashCode = "IPR0105";

// "2nd"
std::string ordinal(std::int32_t number) {
  constexpr std::array<std::string_view, 4> kEndings = {"th", "st", "nd", "rd"};
  const std::int32_t ten = number % 100;
  const std::int32_t last = ten > 10 && ten < 20 ? 0 : number % 10;
  return fmt::format("{}{}", number, kEndings[last > 3 ? 0U : static_cast<std::size_t>(last)]);
}

std::string message_of(const DriftEntry& entry) {
  return fmt::format("{}: wanted {}, found {}", entry.object, entry.wanted, entry.found);
}

// `repeats`: the agent says that something of ours is changed again and again; a condition tells of that by itself.
DriftEntry entry_of(const std::string& node, const Drifted& told, bool repeats) {
  DriftEntry out{.node = node,
                 .type = told.repairs > 0 ? kRepaired : kForeign,
                 .reason = told.repairs > 0 ? kRepaired : "ForeignRule",
                 .message = {},
                 .object = told.object,
                 .wanted = told.wanted,
                 .found = told.found,
                 .likely = told.likely,
                 .repairs = told.repairs};
  out.message = message_of(out);
  if (told.repairs == 0) {
    out.action = kLeftAlone;
    out.code = kClashCode;
    return out;
  }
  out.goes_on = false;
  out.since = told.repaired;
  out.action = fmt::format("repaired in {} ms{}", told.took_ms,
                           told.repairs > 1 ? fmt::format(", {} time", ordinal(told.repairs)) : "");
  if (repeats && told.repairs > static_cast<std::int32_t>(agent::Drift::kOften)) out.code = kRepeatedCode;
  return out;
}

bool is_recent(const std::optional<meta::Time>& when, const Since& since, meta::Time now) {
  return !since || (when && now - *when <= *since);
}

DriftEntry entry_of(const std::string& node, const meta::Condition& condition) {
  const bool clashes = condition.type == "Clashing";
  DriftEntry out{.node = node,
                 .type = condition.type,
                 .goes_on = condition.status == meta::Truth::yes,
                 .reason = condition.reason,
                 .message = condition.message,
                 .since = condition.last_transition,
                 .object = "our rules",
                 .wanted = clashes ? "alone at their place" : "left as they are"};
  out.found = !out.goes_on ? "all right again" : clashes ? "another's beside one" : "changed again and again";
  out.action = out.goes_on ? condition.message : kOver;
  if (out.goes_on) out.code = clashes ? kClashCode : kRepeatedCode;
  return out;
}

DriftEntry found_in_kernel(const std::string& node, std::string reason, std::string_view what) {
  DriftEntry out{.node = node, .type = kKernel, .reason = std::move(reason), .message = std::string(what)};
  out.object = what;
  const bool is_missing = out.reason == "Missing";
  out.wanted = is_missing ? "present" : "absent";
  out.found = is_missing ? "missing" : "present";
  out.action = "not repaired yet";
  return out;
}

// "IPv4 rule 1000: ... stands beside 1000: ..."
DriftEntry clash_in_kernel(const std::string& node, std::string_view what) {
  constexpr std::string_view kBetween = " stands beside ";
  DriftEntry out = found_in_kernel(node, "Clashing", what);
  const auto at = what.find(kBetween);
  out.object = what.substr(0, at);
  out.wanted = "alone at its place";
  out.found = at == std::string_view::npos ? "another's beside it" : what.substr(at + kBetween.size());
  out.action = kLeftAlone;
  out.code = kClashCode;
  return out;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

}  // namespace

bool DriftEntry::is_about_the_same(const DriftEntry& other) const {
  if (node != other.node || type != other.type || object != other.object) return false;
  return type != kKernel || reason == other.reason;
}

DriftEntry ended(DriftEntry entry) {
  entry.goes_on = false;
  entry.since.reset();  // It began then; when it ended is now.
  entry.action = kOver;
  entry.code.clear();
  return entry;
}

std::vector<DriftEntry> reported_drift(const api::NodeState& report, const Since& since, meta::Time now) {
  const auto* drifting = meta::find(report.status.conditions, "Drifting");
  const auto* clashing = meta::find(report.status.conditions, "Clashing");
  const bool repeats = drifting != nullptr && drifting->status == meta::Truth::yes;
  // What details say is not said again.
  const bool has_clashes = std::ranges::find(report.status.drift, 0, &Drifted::repairs) != report.status.drift.end();
  std::vector<DriftEntry> out;
  for (const meta::Condition* condition : {drifting, clashing}) {
    if (condition == nullptr || (condition == clashing && has_clashes)) continue;
    DriftEntry entry = entry_of(report.meta.name, *condition);
    if (since ? is_recent(entry.since, since, now) : entry.goes_on) out.push_back(std::move(entry));
  }
  for (const Drifted& told : report.status.drift) {
    DriftEntry entry = entry_of(report.meta.name, told, repeats);
    if (entry.type == kForeign && clashing != nullptr) entry.since = clashing->last_transition;
    if (is_recent(entry.since, since, now)) out.push_back(std::move(entry));
  }
  return out;
}

base::Result<std::vector<DriftEntry>> kernel_drift(const std::string& node, const Answer& diff) {
  std::vector<DriftEntry> out;
  json::Reader reader;
  const auto root = TRY(reader.parse(diff.json));
  const auto operations = TRY(root["operations"].items_or_none());
  for (const json::Value& operation : operations) {
    const bool missing = TRY(operation["do"].string()) != "delete";
    out.push_back(found_in_kernel(node, missing ? "Missing" : "NotWanted", TRY(operation["what"].string())));
  }
  const auto warnings = TRY(root["warnings"].items_or_none());
  for (const json::Value& warning : warnings) {
    if (TRY(warning["code"].string_or("")) != kClashCode) continue;
    out.push_back(clash_in_kernel(node, TRY(warning["what"].string())));
  }
  return out;
}

std::vector<DriftEntry> standalone_drift(const std::string& node, const agent::StandaloneStatus& status,
                                         const Since& since, meta::Time now) {
  std::vector<DriftEntry> out;
  if (status.drifting) {
    out.push_back(entry_of(node, {.type = "Drifting",
                                  .status = meta::Truth::yes,
                                  .reason = "RepeatedRepairs",
                                  .message = agent::Drift::advice()}));
    out.back().since.reset();  // Nobody wrote down when it began.
  }
  for (const Drifted& told : status.drift) {
    if (told.repairs == 0) continue;  // The kernel itself tells what stands there now.
    DriftEntry entry = entry_of(node, told, status.drifting);
    if (is_recent(entry.since, since, now)) out.push_back(std::move(entry));
  }
  return out;
}

Listing drift_listing(const std::vector<DriftEntry>& entries, meta::Time now) {
  Listing out({{"NODE"}, {"OBJECT"}, {"WANTED"}, {"FOUND"}, {"LIKELY"}, {"ACTION"}, {"SINCE", true}});
  for (const DriftEntry& entry : entries) {
    const std::string action = entry.action + (entry.code.empty() ? "" : "  " + entry.code);
    out.row({.name = "node/" + entry.node,
             .cells = {entry.node,
                       entry.object,
                       entry.wanted,
                       {entry.found, entry.goes_on ? Tone::bad : Tone::plain},
                       or_dash(entry.likely),
                       {action, entry.goes_on ? Tone::bad : Tone::good},
                       entry.since ? age_text(now - *entry.since) : "-"},
             .json = json::object([&](json::Object& item) {
               item.put("node", entry.node);
               item.put("type", entry.type);
               item.put("goesOn", entry.goes_on);
               item.put("reason", entry.reason);
               item.put("message", entry.message);
               if (entry.since) item.put("since", meta::format_time(*entry.since));
               item.put("object", entry.object);
               item.put("wanted", entry.wanted);
               item.put("found", entry.found);
               item.put_unless_empty("likely", entry.likely);
               item.put("action", entry.action);
               item.put_unless_empty("code", entry.code);
               item.put_unless_empty("repairs", entry.repairs);
             })});
  }
  return out;
}

}  // namespace cli
