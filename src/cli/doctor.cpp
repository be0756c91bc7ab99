#include "cli/doctor.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/reported_facts.h"
#include "cli/state_folder.h"
#include "cli/this_host.h"
#include "intent/node/source_sight.h"
#include "json/writer.h"
#include "kernel/facts.h"
#include "kernel/rtnl/link.h"

namespace cli {
namespace {

using Level = Line::Level;

constexpr std::size_t kMostCommands = 5;

Table::Cell level_cell(Level level) {
  switch (level) {
    case Level::ok:
      return {"ok", Tone::good};
    case Level::unknown:
      return {"?", Tone::faint};
    case Level::warn:
      return {"warn", Tone::warning};
  }
  return "";
}

std::string_view level_word(Level level) {
  return level == Level::ok ? "ok" : level == Level::warn ? "warn" : "unknown";
}

// Rules of ours that look at marks alone: whoever made them has no need of advice.
bool steers_replies_only(const Examined& node) {
  if (!node.observed) return false;
  const auto ours = [&](const state::Rule& rule) { return rule.protocol == node.protocol; };
  const auto from = [&](const state::Rule& rule) { return ours(rule) && rule.selector.from.has_value(); };
  return std::ranges::any_of(node.observed->rules, ours) && std::ranges::none_of(node.observed->rules, from);
}

// One for each IPRule that does not fit. Where no cluster is known, nobody knows which there are.
std::vector<std::string> commands(const Examined& node, const Examination& found) {
  std::vector<std::string> out;
  if (!found.modes.recommended) return out;
  for (const std::string& name : found.unfit) {
    if (out.size() < kMostCommands) out.push_back(intent::patch_command(name, *found.modes.recommended));
  }
  if (!node.wishes && !steers_replies_only(node)) {
    out.push_back(intent::patch_command("NAME", *found.modes.recommended));
  }
  return out;
}

void put_modes(json::Object& out, std::string_view key, const std::vector<api::SourceMode>& modes) {
  out.array(key, [&](json::Array& list) {
    for (const api::SourceMode mode : modes) list.put(text(mode));
  });
}

std::string json_of(const Examination& found, const std::vector<std::string>& next) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Examination");
    out.array("facts", [&](json::Array& list) {
      for (const Line& line : found.lines) {
        list.object([&](json::Object& item) {
          item.put("level", level_word(line.level));
          item.put("subject", line.subject);
          item.put("text", line.text);
          item.put_unless_empty("code", line.code);
        });
      }
    });
    out.put("recommendedMode", found.modes.recommended ? text(*found.modes.recommended) : std::string_view());
    put_modes(out, "works", found.modes.works);
    out.put_unless_empty("worksOnly", found.modes.condition);
    put_modes(out, "fails", found.modes.fails);
    out.array("unfitRules", [&](json::Array& list) {
      for (const std::string& name : found.unfit) list.put(name);
    });
    out.array("next", [&](json::Array& list) {
      for (const std::string& command : next) list.put(command);
    });
  });
}

// Those that IPRules name themselves.
std::set<std::uint32_t> named_tables(const std::optional<NodeWishes>& wishes) {
  std::set<std::uint32_t> out;
  if (!wishes) return out;
  for (const api::IPRule& rule : wishes->rules) {
    if (rule.spec.vrf.empty()) out.insert(rule.spec.table);
  }
  return out;
}

bool is_wished(const std::optional<NodeWishes>& wishes, const state::Link& vrf) {
  return wishes &&
         std::ranges::any_of(wishes->rules, [&](const api::IPRule& rule) { return rule.spec.vrf == vrf.name.text(); });
}

// The tables whose routes matter: those that rules of ours look up, and those that are wanted.
std::set<std::uint32_t> tables_here(const Examined& node) {
  std::set<std::uint32_t> out = named_tables(node.wishes);
  for (const state::Rule& rule : node.observed->rules) {
    if (rule.protocol == node.protocol) out.insert(rule.table);
  }
  for (const state::ObservedLink& seen : node.observed->observed_links) {
    if (seen.link.kind == state::LinkKind::vrf && is_wished(node.wishes, seen.link)) out.insert(seen.link.table);
  }
  out.erase(0);
  out.erase(state::kTableMain);
  return out;
}

// The load balancer addresses that are known: those of the cluster, else those whose replies are steered here.
std::vector<Frontend> frontends_of(const Examined& node) {
  if (node.wishes) return node.wishes->frontends;
  std::vector<Frontend> out;
  if (!node.observed->nft) return out;
  for (const auto& [vip, mark] : node.observed->nft->vips) out.push_back({.vip = vip});
  return out;
}

std::optional<ReplyEvidence> look_at_connections(const std::vector<Frontend>& frontends) {
  if (frontends.empty()) return std::nullopt;
  std::set<net::Address> vips;
  for (const Frontend& frontend : frontends) vips.insert(frontend.vip);
  const auto answerers = kernel::answerers_of(vips);
  if (!answerers) return ReplyEvidence{.unknown = answerers.error().message()};
  return weigh(frontends, *answerers);
}

}  // namespace

Answer show(const Examined& node) {
  const Examination found = examine(node);
  const auto next = commands(node, found);
  Answer answer;
  Table table(2);
  for (const Line& line : found.lines) {
    table.row({level_cell(line.level), line.subject, line.text + (line.code.empty() ? "" : "  " + line.code)});
  }
  table.print(answer.page);
  const auto warnings = std::ranges::count(found.lines, Level::warn, &Line::level);
  const std::string works = works_text(found.modes);
  const std::string fails = fails_text(found.modes);
  answer.page.line("{} warning{}.{}{}", warnings, warnings == 1 ? "" : "s",
                   works.empty() ? "" : fmt::format("  Works here: {}.", works),
                   fails.empty() ? "" : fmt::format("  Cannot work: {}.", fails));
  for (const std::string& command : next) answer.page.line("  {}", command);
  if (found.unfit.size() > kMostCommands) {
    answer.page.line("  and {} IPRules more, likewise", found.unfit.size() - kMostCommands);
  }
  if (warnings > 0) answer.code = ExitCode::attention;
  answer.json = json_of(found, next);
  return answer;
}

base::Result<Answer> examine_host(std::uint8_t protocol, std::optional<NodeWishes> wishes) {
  auto host = TRY(ThisHost::open());
  Examined node{.wishes = std::move(wishes), .protocol = protocol};
  node.observed = TRY(host.observe(named_tables(node.wishes)));
  const auto tables = tables_here(node);
  node.facts = TRY(kernel::read_facts(host.socket(), tables, {}));
  node.report.facts = agent::reported(node.facts);
  // A fact more: without it nothing is said of gateways.
  node.neighbours = kernel::rtnl::read_neighbours(host.socket(), kernel::rtnl::table_of(node.observed->observed_links))
                        .value_or(std::vector<kernel::rtnl::Neighbour>());
  node.replies = look_at_connections(frontends_of(node));
  return show(node);
}

base::Result<Answer> examine_dumps(const std::filesystem::path& folder) {
  DumpedHost host = TRY(read_state_folder(folder));
  Examined node{.observed = std::move(host.state), .dumped = true};
  node.facts = state::facts_of(*node.observed, tables_here(node));
  node.facts.service_proxy = host.service_proxy;
  if (host.nft) node.facts.nftables = true;
  std::erase_if(node.facts.tables, [&](const state::TableUse& use) { return !host.routes.contains(use.family); });
  node.report.facts = agent::reported(node.facts);
  Answer answer{.page = {}, .json = {}};
  answer.page.line("a host by the dumps of {}: no kernel was asked", folder.native());
  const Answer shown = show(node);
  answer.page.append(shown.page);
  answer.json = shown.json;
  answer.code = shown.code;
  return answer;
}

}  // namespace cli
