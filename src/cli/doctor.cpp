#include "cli/doctor.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/source_modes.h"
#include "cli/this_host.h"
#include "intent/node/source_rules.h"
#include "json/writer.h"
#include "kernel/facts.h"
#include "state/words.h"

namespace cli {
namespace {

using state::ServiceProxy;

struct Line {
  enum class Level { ok, unknown, warn };
  Level level = Level::ok;
  std::string subject;
  std::string text;
  std::string code{};
};

std::string_view proxy_text(ServiceProxy proxy) {
  switch (proxy) {
    case ServiceProxy::nftables:
      return "kube-proxy nftables: replies are routed with the pod's address";
    case ServiceProxy::iptables:
      return "kube-proxy iptables: replies are routed with the pod's address";
    case ServiceProxy::ipvs:
      return "IPVS: replies are routed again with the load balancer's address";
    case ServiceProxy::none:
      return "none seen: an eBPF data path, or no cluster";
    case ServiceProxy::unknown:
      return "could not be found out; run as root on the node";
  }
  return "";
}

bool is_ours(const state::Rule& rule) {
  return rule.protocol == api::kRuleProtocol;
}

class Examination {
 public:
  // Without `observed`, only what the facts alone tell is said.
  Examination(const state::NodeFacts& facts, const state::NetState* observed) : facts_(facts), observed_(observed) {}

  std::vector<Line> run() {
    kernel();
    service_proxy();
    conntrack();
    reverse_path_filter();
    local_rule();
    if (observed_ != nullptr) mark_bits();
    tables();
    if (observed_ != nullptr) rule_walk();
    return std::move(lines_);
  }

 private:
  void say(Line::Level level, std::string subject, std::string text, std::string code = "") {
    lines_.push_back({.level = level, .subject = std::move(subject), .text = std::move(text), .code = std::move(code)});
  }
  static Line::Level level(const std::optional<bool>& fact) {
    return !fact ? Line::Level::unknown : *fact ? Line::Level::ok : Line::Level::warn;
  }

  void kernel() {
    if (observed_ == nullptr && !facts_.nftables) return say(Line::Level::ok, "kernel " + facts_.kernel, "");
    say(level(facts_.nftables), "kernel " + facts_.kernel,
        !facts_.nftables   ? "nftables: unknown"
        : *facts_.nftables ? "nftables"
                           : "no nftables: Reply and marks cannot work");
  }

  // A rule for a source that is never seen steers nothing.
  void service_proxy() {
    const bool rewrites =
        facts_.service_proxy == ServiceProxy::nftables || facts_.service_proxy == ServiceProxy::iptables;
    const auto sources = std::ranges::count_if(
        rules(), [](const state::Rule& rule) { return is_ours(rule) && rule.selector.from.has_value(); });
    const std::string text(proxy_text(facts_.service_proxy));
    if (facts_.service_proxy == ServiceProxy::unknown) {
      say(Line::Level::unknown, "service proxy", text);
    } else if (rewrites && sources > 0) {
      say(Line::Level::warn, "service proxy",
          fmt::format("{}; {} rules here match sources, of which only pods are seen", text, sources), "IPR0301");
    } else {
      say(Line::Level::ok, "service proxy", text);
    }
  }

  void conntrack() {
    say(level(facts_.conntrack), "conntrack",
        !facts_.conntrack   ? "could not be found out"
        : *facts_.conntrack ? "the kernel follows connections"
                            : "the kernel follows no connections: Reply cannot work");
  }

  void reverse_path_filter() {
    std::set<net::InterfaceName> uplinks;
    for (const state::TableUse& table : facts_.tables) {
      if (table.family == net::Family::v4) uplinks.insert(table.devices.begin(), table.devices.end());
    }
    std::string strict;
    for (const auto& [device, value] : facts_.reverse_path_filter) {
      if (value == 1 && uplinks.contains(device))
        strict += fmt::format("{}{}", strict.empty() ? "" : ", ", device.text());
    }
    if (facts_.reverse_path_filter.empty()) {
      say(Line::Level::unknown, "rp_filter", "no device shows one");
    } else if (!strict.empty()) {
      say(Line::Level::warn, "rp_filter", fmt::format("1 (strict) on {}: drops what is steered by mark", strict),
          "IPR0310");
    } else {
      say(Line::Level::ok, "rp_filter", "not strict on any device that the tables lead to");
    }
  }

  void local_rule() {
    if (!facts_.local_rule_priority) return say(Line::Level::unknown, "local rule", "not found");
    const std::uint32_t at = *facts_.local_rule_priority;
    const bool behind =
        std::ranges::any_of(rules(), [&](const state::Rule& rule) { return is_ours(rule) && rule.priority < at; });
    say(behind ? Line::Level::warn : Line::Level::ok, "local rule",
        fmt::format("at {}{}", at, behind ? ", behind rules of ours" : ""), behind ? "IPR0313" : "");
  }

  void mark_bits() {
    const std::uint32_t window = intent::mark_window(facts_);
    for (const state::Rule& rule : rules()) {
      if (is_ours(rule) || !rule.selector.mark || (rule.selector.mark->mask & window) == 0) continue;
      return say(Line::Level::warn, "mark bits",
                 fmt::format("{:#x} is ours, and a foreign rule looks at it: {}", window, state::text(rule)),
                 "IPR0104");
    }
    say(Line::Level::ok, "mark bits", fmt::format("no foreign rule looks at {:#x}", window));
  }

  void tables() {
    for (const state::TableUse& use : facts_.tables) {
      const std::string subject = fmt::format("table {}", state::words::named(state::words::kTables, use.table));
      if (use.routes == 0) {
        say(Line::Level::warn, subject,
            fmt::format("no {} route: lookups fall through to the next rule", net::text(use.family)), "IPR0311");
        continue;
      }
      std::string devices;
      for (const auto& device : use.devices) devices += fmt::format("{}{}", devices.empty() ? "" : ", ", device.text());
      say(Line::Level::ok, subject,
          fmt::format("{} {} route{}{}", use.routes, net::text(use.family), use.routes == 1 ? "" : "s",
                      devices.empty() ? "" : " by " + devices));
    }
  }

  void rule_walk() {
    say(Line::Level::ok, "rule walk",
        fmt::format("{} rules, {} ours", observed_->rules.size() + observed_->opaque_rules.size(),
                    std::ranges::count_if(observed_->rules, is_ours)));
  }

  std::span<const state::Rule> rules() const {
    return observed_ != nullptr ? std::span<const state::Rule>(observed_->rules) : std::span<const state::Rule>();
  }

  const state::NodeFacts& facts_;
  const state::NetState* observed_;
  std::vector<Line> lines_;
};

Table::Cell level_cell(Line::Level level) {
  switch (level) {
    case Line::Level::ok:
      return {"ok", Tone::good};
    case Line::Level::unknown:
      return {"?", Tone::faint};
    case Line::Level::warn:
      return {"warn", Tone::warning};
  }
  return "";
}

std::string patch_command(std::string_view mode) {
  return fmt::format(R"(kubectl patch iprule NAME --type=merge -p '{{"spec":{{"source":{{"modes":["{}"]}}}}}}')", mode);
}

std::string json_of(const std::vector<Line>& lines, const SourceModes& modes) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Examination");
    out.array("facts", [&](json::Array& list) {
      for (const Line& line : lines) {
        list.object([&](json::Object& item) {
          item.put("level", line.level == Line::Level::ok     ? "ok"
                            : line.level == Line::Level::warn ? "warn"
                                                              : "unknown");
          item.put("subject", line.subject);
          item.put("text", line.text);
          item.put_unless_empty("code", line.code);
        });
      }
    });
    out.put("recommendedMode", modes.recommended);
  });
}

Answer show(const std::vector<Line>& lines, const state::NodeFacts& facts) {
  Answer answer;
  Table table(2);
  for (const Line& line : lines) {
    table.row({level_cell(line.level), line.subject, line.text + (line.code.empty() ? "" : "  " + line.code)});
  }
  table.print(answer.page);
  const auto warnings = std::ranges::count(lines, Line::Level::warn, &Line::level);
  const SourceModes modes = source_modes(facts.service_proxy);
  answer.page.line("{} warning{}.{}{}", warnings, warnings == 1 ? "" : "s",
                   modes.works.empty() ? "" : fmt::format("  Works here: {}.", modes.works),
                   modes.fails.empty() ? "" : fmt::format("  Cannot work: {}.", modes.fails));
  if (!modes.recommended.empty()) answer.page.line("  {}", patch_command(modes.recommended));
  if (warnings > 0) answer.code = ExitCode::attention;
  answer.json = json_of(lines, modes);
  return answer;
}

}  // namespace

Answer show_facts(const state::NodeFacts& facts, const state::NetState& observed) {
  return show(Examination(facts, &observed).run(), facts);
}

Answer show_reported_facts(const state::NodeFacts& facts) {
  return show(Examination(facts, nullptr).run(), facts);
}

base::Result<Answer> examine_host() {
  auto host = TRY(ThisHost::open());
  const auto observed = TRY(host.observe());
  std::set<std::uint32_t> tables;
  for (const state::Rule& rule : observed.rules) {
    if (is_ours(rule) && rule.table != 0 && rule.table != state::kTableMain) tables.insert(rule.table);
  }
  const auto facts = TRY(kernel::read_facts(host.socket(), tables, {}));
  return show_facts(facts, observed);
}

}  // namespace cli
