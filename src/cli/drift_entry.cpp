#include "cli/drift_entry.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "agent/drift.h"
#include "cli/age.h"
#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr const char* kKernel = "Kernel";

DriftEntry found(const std::string& node, std::string reason, std::string_view what) {
  return {.node = node, .type = kKernel, .reason = std::move(reason), .message = std::string(what)};
}

Table::Cell now_cell(const DriftEntry& entry) {
  if (!entry.goes_on) return {"over", Tone::good};
  return {entry.type == kKernel ? "kernel" : "goes on", Tone::bad};
}

}  // namespace

bool DriftEntry::is_about_the_same(const DriftEntry& other) const {
  if (node != other.node || type != other.type) return false;
  return type != kKernel || (reason == other.reason && message == other.message);
}

std::vector<DriftEntry> reported_drift(const api::NodeState& report, const std::optional<std::chrono::seconds>& since,
                                       meta::Time now) {
  constexpr std::array<std::string_view, 2> kTypes = {"Drifting", "Clashing"};
  std::vector<DriftEntry> out;
  for (const std::string_view type : kTypes) {
    const auto* condition = meta::find(report.status.conditions, type);
    if (condition == nullptr) continue;
    const bool goes_on = condition->status == meta::Truth::yes;
    const bool is_recent = since && now - condition->last_transition <= *since;
    if (!(since ? is_recent : goes_on)) continue;
    out.push_back({.node = report.meta.name,
                   .type = condition->type,
                   .goes_on = goes_on,
                   .reason = condition->reason,
                   .message = condition->message,
                   .since = condition->last_transition});
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
    out.push_back(found(node, missing ? "Missing" : "NotWanted", TRY(operation["what"].string())));
  }
  const auto warnings = TRY(root["warnings"].items_or_none());
  for (const json::Value& warning : warnings) {
    if (TRY(warning["code"].string_or("")) != "IPR0105") continue;
    out.push_back(found(node, "Clashing", TRY(warning["what"].string())));
  }
  return out;
}

std::vector<DriftEntry> standalone_drift(const std::string& node, const agent::StandaloneStatus& status) {
  if (status.repairs == 0) return {};
  const std::string count = status.repairs == 1 ? "1 repair" : fmt::format("{} repairs", status.repairs);
  return {{.node = node,
           .type = "Repaired",
           .goes_on = status.drifting,
           .reason = status.drifting ? "RepeatedRepairs" : "Repaired",
           .message =
               fmt::format("{} since its agent began{}", count, status.drifting ? ": " + agent::Drift::advice() : "")}};
}

Listing drift_listing(const std::vector<DriftEntry>& entries, meta::Time now) {
  Listing out({{"NODE"}, {"SINCE"}, {"NOW"}, {"WHAT"}, {"DETAIL"}});
  for (const DriftEntry& entry : entries) {
    out.row({.name = "node/" + entry.node,
             .cells = {entry.node, entry.since ? age_text(now - *entry.since) : "-", now_cell(entry), entry.reason,
                       entry.message},
             .json = json::object([&](json::Object& item) {
               item.put("node", entry.node);
               item.put("type", entry.type);
               item.put("goesOn", entry.goes_on);
               item.put("reason", entry.reason);
               item.put("message", entry.message);
               if (entry.since) item.put("since", meta::format_time(*entry.since));
             })});
  }
  return out;
}

}  // namespace cli
