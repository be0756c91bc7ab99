#include "agent/standalone_status.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/codec.h"
#include "api/kinds.h"
#include "base/file.h"
#include "intent/cluster/desired.h"
#include "json/writer.h"
#include "plan/plan.h"
#include "state/node_facts.h"

namespace agent {
namespace {

constexpr std::string_view kKind = "StandaloneStatus";

// What the kernel still lacks, the first of it.
std::string lack_of(const kernel::Engine::Report& report) {
  if (report.settled()) return "";
  if (!report.left.empty()) return plan::text(report.left.ops.front());
  return "the kernel kept changing while it was read";
}

std::vector<api::NodeState::EmptyTable> empty_tables(const Pass& pass) {
  std::vector<api::NodeState::EmptyTable> out;
  for (const state::TableUse& use : pass.facts.tables) {
    const auto uses = [&](const state::Rule& rule) { return rule.table == use.table && rule.family == use.family; };
    if (use.routes > 0 || std::ranges::none_of(pass.wanted.state.rules, uses)) continue;
    out.push_back(
        {.table = use.table, .family = use.family == net::Family::v4 ? api::IPFamily::v4 : api::IPFamily::v6});
  }
  return out;
}

// The filter asks for the way back without the mark, so it drops what only a mark leads there.
std::vector<std::string> strict_devices(const Pass& pass) {
  constexpr int kStrict = 1;
  std::vector<std::string> out;
  if (!pass.wanted.state.nft) return out;
  for (const auto& [device, value] : pass.facts.reverse_path_filter) {
    if (value == kStrict) out.emplace_back(device.text());
  }
  return out;
}

std::vector<std::string> clashes(const Pass& pass) {
  std::vector<std::string> out;
  for (const plan::Clash& clash : pass.report.left.clashes) out.push_back(state::text(clash.foreign));
  return out;
}

}  // namespace

std::string encode(const StandaloneStatus& status) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", kKind);
    api::Encoder encoder(out);
    StandaloneStatus::fields(status, encoder);
  });
}

base::Result<StandaloneStatus> decode_standalone_status(std::string_view text) {
  json::Reader reader;
  const auto object = TRY(reader.parse(text));
  if (TRY(object["kind"].string()) != kKind) return object["kind"].fail(fmt::format("expected {}", kKind));
  StandaloneStatus out;
  api::Decoder decoder(object);
  StandaloneStatus::fields(out, decoder);
  TRY(std::move(decoder).status());
  return out;
}

std::vector<StandaloneStatus::Rule> rules_of(const Manifests& manifests) {
  std::vector<const api::IPRule*> rules;
  std::vector<const api::Service*> services;
  for (const api::IPRule& rule : manifests.rules) rules.push_back(&rule);
  for (const api::Service& service : manifests.services) services.push_back(&service);
  std::vector<StandaloneStatus::Rule> out;
  const auto desired = intent::desired_configs(
      {.rules = rules, .services = services, .nodes = {}, .default_priority = default_priority(manifests)});
  for (const intent::RuleOutcome& outcome : desired.rules) {
    out.push_back({.name = outcome.rule->meta.name,
                   .reason = outcome.acceptance.reason,
                   .message = outcome.acceptance.message,
                   .services = outcome.matched_services,
                   .vips = outcome.matched_vips});
  }
  return out;
}

void take(StandaloneStatus& status, const Looked& looked) {
  status.settled = false;
  if (!looked) {
    status.waiting = looked.error().message();
  } else if (*looked) {
    status.settled = (*looked)->report.settled();
    status.waiting = lack_of((*looked)->report);
    status.kernel_rules = static_cast<std::int64_t>((*looked)->own_rules);
    status.repairs += static_cast<std::int64_t>((*looked)->repairs);
    status.drifting = (*looked)->drifting;
    status.drift = (*looked)->drift;
    std::ranges::move(drift_beside_ours((*looked)->report.left.clashes), std::back_inserter(status.drift));
    status.failed = (*looked)->wanted.failed;
    status.empty_tables = empty_tables(**looked);
    status.strict_devices = strict_devices(**looked);
    status.clashes = clashes(**looked);
  }
}

base::Status write_status(const std::filesystem::path& folder, const StandaloneStatus& status) {
  const std::string text = encode(status) + "\n";
  const auto file = folder / kStatusFile;
  if (const auto there = base::read_file(file); there && *there == text) return {};
  const auto beside = folder / fmt::format(".{}.new", kStatusFile);
  TRY(base::write_file(beside, text));
  std::error_code error;
  std::filesystem::rename(beside, file, error);
  if (error) return base::fail_errno(fmt::format("rename {}", beside.native()), error.value());
  return {};
}

base::Result<StandaloneStatus> read_status(const std::filesystem::path& folder) {
  const auto file = folder / kStatusFile;
  const std::string text = TRY(base::read_file(file));
  return base::within(file.native(), decode_standalone_status(text));
}

}  // namespace agent
