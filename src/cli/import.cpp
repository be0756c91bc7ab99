#include "cli/import.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "api/iprule.h"
#include "api/kinds.h"
#include "base/file.h"
#include "json/reader.h"
#include "json/yaml_writer.h"

namespace cli {
namespace {

bool is_kernels(const state::Rule& rule) {
  const bool own_table =
      rule.table == state::kTableMain || rule.table == state::kTableLocal || rule.table == state::kTableDefault;
  return own_table && (rule.priority == 0 || rule.priority >= state::kPriorityMain) && !rule.selector.from;
}

// Why no IPRule can say it; empty if one can.
std::string obstacle(const state::Rule& rule) {
  if (rule.action != state::RuleAction::lookup || rule.l3mdev) return "its action is no lookup in a table";
  if (!rule.selector.from) return "it has no source";
  state::Rule plain{.family = rule.family, .priority = rule.priority, .protocol = rule.protocol, .table = rule.table};
  plain.selector.from = rule.selector.from;
  if (plain != rule) return "it asks for more than a source";
  const auto table = state::validate_table(rule.table);
  return table ? "" : table.error().message();
}

std::string manifest(const std::string& name, std::uint32_t table, std::uint32_t priority,
                     const std::set<net::Prefix>& prefixes) {
  api::IPRule rule;
  rule.meta.name = name;
  rule.spec.table = table;
  rule.spec.priority = priority;
  rule.spec.source.modes = {api::SourceMode::load_balancer_ip};
  for (const net::Prefix& prefix : prefixes) rule.spec.cidrs.push_back(prefix.text());
  json::Reader reader;
  const auto parsed = reader.parse(api::encode(rule));
  return parsed ? json::to_yaml(*parsed) : "";
}

}  // namespace

Imported import_rules(const DumpedRules& dumped, std::string_view name) {
  Imported out;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<net::Prefix>> groups;
  for (const state::Rule& rule : dumped.rules) {
    if (is_kernels(rule) || rule.protocol == api::kRuleProtocol) {
      ++out.left;
    } else if (const std::string why = obstacle(rule); !why.empty()) {
      out.refused.push_back(fmt::format("{}: {}", state::text(rule), why));
    } else {
      ++out.taken;
      groups[{rule.table, rule.priority}].insert(*rule.selector.from);
    }
  }
  for (const auto& unread : dumped.unread) out.refused.push_back(fmt::format("{}: {}", unread.rule, unread.reason));
  bool first = true;
  for (const auto& [key, prefixes] : groups) {
    const auto& [table, priority] = key;
    if (!first) out.manifests += "---\n";
    out.manifests +=
        manifest(first ? std::string(name) : fmt::format("{}-{}-{}", name, table, priority), table, priority, prefixes);
    first = false;
  }
  return out;
}

base::Result<ImportAnswer> import_file(const std::string& rules, std::string_view name) {
  const std::string text = TRY(base::within("--rules", base::read_file(rules)));
  const auto dumped = TRY(base::within(rules, parse_ip_rules(net::Family::v4, text)));
  const Imported imported = import_rules(dumped, name);
  ImportAnswer out{.manifests = imported.manifests};
  out.sum.page.line("{} rules: {} taken, {} are the kernel's or ours, {} cannot be expressed",
                    dumped.rules.size() + dumped.unread.size(), imported.taken, imported.left, imported.refused.size());
  for (const std::string& refused : imported.refused) out.sum.page.put("  ").put(refused, Tone::warning).end_line();
  if (imported.taken > 0) {
    out.sum.page.line(
        "An IPRule steers LoadBalancer Services alone: an address that no Service has is not steered. Keep the old "
        "rules "
        "until `iprulectl plan -f` shows the same ones.");
  }
  if (!imported.refused.empty()) out.sum.code = ExitCode::attention;
  return out;
}

}  // namespace cli
