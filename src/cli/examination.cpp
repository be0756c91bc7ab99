#include "cli/examination.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/table_lines.h"
#include "dataplane/backend.h"
#include "intent/cluster/desired.h"
#include "intent/cluster/number_advice.h"
#include "intent/cluster/prospect.h"
#include "intent/node/source_rules.h"
#include "state/known_numbers.h"
#include "state/words.h"

namespace cli {
namespace {

using api::SourceMode;
using state::ServiceProxy;
using Level = Line::Level;

constexpr std::size_t kMostNamed = 3;

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

Level level_of(const std::optional<bool>& fact) {
  return !fact ? Level::unknown : *fact ? Level::ok : Level::warn;
}

std::string modes_text(const std::vector<SourceMode>& modes) {
  std::string out;
  for (const SourceMode mode : modes) out += fmt::format("{}{}", out.empty() ? "" : " and ", text(mode));
  return out;
}

// "http://[2001:db8::1]"
std::string url_of(const net::Address& address) {
  return address.family() == net::Family::v4 ? fmt::format("http://{}", address.text())
                                             : fmt::format("http://[{}]", address.text());
}

bool lacks_nftables(const state::NodeFacts& facts) {
  return facts.nftables == false || facts.capabilities.nft_maps == false || facts.capabilities.ct_original == false;
}

DataPath data_path(const Examined& node) {
  DataPath out{.proxy = node.facts.service_proxy,
               .tells_replies = node.facts.conntrack != false && !lacks_nftables(node.facts),
               .cilium = node.facts.cilium};
  if (node.replies && !node.replies->seen.empty()) out.seen = node.replies->seen.front().bears;
  return out;
}

// An IPRule as it does on this node.
struct RuleHere {
  const api::IPRule* rule = nullptr;
  std::vector<net::Prefix> prefixes;
  intent::Prospect prospect;
  std::uint32_t priority = 0;  // Of the first of its rules.
  std::uint32_t last_priority = 0;

  bool covers(const net::Address& vip) const {
    return std::ranges::any_of(prefixes, [&](const net::Prefix& prefix) { return prefix.contains(vip); });
  }
};

std::vector<RuleHere> rules_here(const Examined& node) {
  std::vector<RuleHere> out;
  if (!node.wishes) return out;
  for (const api::IPRule& rule : node.wishes->rules) {
    RuleHere here{.rule = &rule, .prefixes = api::accept(rule).prefixes, .prospect = {}};
    here.prospect = intent::prospect_of(rule, here.prefixes, node.report, node.wishes->dataplane);
    here.priority =
        intent::effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), node.wishes->default_priority);
    here.last_priority = here.priority;
    const auto modes = rule.modes();
    const bool looks_at_main = std::ranges::find(modes, SourceMode::reply) != modes.end();
    if (looks_at_main && rule.spec.source.prefer_main.value_or(true) && here.priority > 0) --here.priority;
    out.push_back(std::move(here));
  }
  return out;
}

class Examiner {
 public:
  explicit Examiner(const Examined& node)
      : node_(node), facts_(node.facts), rules_(rules_here(node)), path_(data_path(node)) {}

  Examination run() && {
    kernel();
    service_proxy();
    reply_source();
    conntrack();
    reverse_path_filter();
    local_rule();
    shared_priorities();
    if (node_.observed) mark_bits();
    for (Line& line : table_lines(node_)) lines_.push_back(std::move(line));
    if (node_.dumped) unshown_tables();
    if (node_.observed) rule_walk();
    return {.lines = std::move(lines_), .modes = source_modes(path_), .unfit = {unfit_.begin(), unfit_.end()}};
  }

 private:
  void say(Level level, std::string subject, std::string text, std::string code = "") {
    lines_.push_back({.level = level, .subject = std::move(subject), .text = std::move(text), .code = std::move(code)});
  }

  void kernel() {
    const std::string subject = facts_.kernel.empty() ? "kernel" : "kernel " + facts_.kernel;
    if (lacks_nftables(facts_)) {
      return say(Level::warn, subject,
                 facts_.nftables == false
                     ? "no nftables: Reply and marks cannot work"
                     : "nftables without maps of addresses or `ct original`: Reply and marks cannot "
                       "work",
                 "IPR0319");
    }
    const bool was_tried = facts_.capabilities != state::Capabilities();
    if (!facts_.nftables && !was_tried) return say(Level::unknown, subject, "nftables: unknown");
    say(Level::ok, subject, was_tried ? state::text(facts_.capabilities) : "nftables");
  }

  // Without a cluster at hand, the rules that stand there show what is asked for.
  void service_proxy() {
    const std::string text(proxy_text(facts_.service_proxy));
    if (facts_.service_proxy == ServiceProxy::unknown) {
      return say(Level::unknown, "service proxy",
                 node_.dumped ? "none in the dumps, which show neither eBPF nor iptables of the old kind" : text);
    }
    const bool translates =
        facts_.service_proxy == ServiceProxy::nftables || facts_.service_proxy == ServiceProxy::iptables;
    const auto sources = std::ranges::count_if(
        seen_rules(), [&](const state::Rule& rule) { return is_ours(rule) && rule.selector.from.has_value(); });
    if (node_.wishes || !translates || sources == 0) return say(Level::ok, "service proxy", text);
    say(Level::warn, "service proxy",
        fmt::format("{}; {} rules here match sources, of which only pods are seen", text, sources), "IPR0301");
  }

  // What connections show, then what of the wishes cannot be met without their saying so.
  void reply_source() {
    connections();
    for (const RuleHere& here : rules_) {
      if (here.prospect.obstacle != intent::Obstacle::never_seen) continue;
      if (!unfit_.insert(here.rule->meta.name).second) continue;
      say(Level::warn, "reply source",
          fmt::format("IPRule/{} asks for {}, which no reply bears here", here.rule->meta.name,
                      modes_text(here.rule->modes())),
          "IPR0301");
    }
  }

  void connections() {
    if (node_.dumped) return say(Level::unknown, "reply source", "connections are in no dump");
    if (!node_.replies) return;
    if (!node_.replies->unknown.empty()) {
      return say(Level::unknown, "reply source", "connections could not be read: " + node_.replies->unknown);
    }
    if (node_.replies->seen.empty()) return too_little_traffic();
    for (std::size_t i = 0; i < std::min(kMostNamed, node_.replies->seen.size()); ++i) {
      const ReplySource& seen = node_.replies->seen[i];
      const bool misses = blame(seen);
      say(misses ? Level::warn : Level::ok, "reply source", text(seen), misses ? "IPR0301" : "");
    }
  }

  void too_little_traffic() {
    if (!node_.wishes || node_.wishes->frontends.empty()) return;
    const net::Address& vip = node_.wishes->frontends.front().vip;
    say(Level::unknown, "reply source",
        fmt::format("too little traffic to tell: no connection to {} is known here; open one from outside, for example "
                    "curl {}, and ask again",
                    vip.text(), url_of(vip)));
  }

  // Whether an IPRule that covers the address asks for what its replies do not bear.
  bool blame(const ReplySource& seen) {
    bool out = false;
    for (const RuleHere& here : rules_) {
      if (!here.covers(seen.vip)) continue;
      const auto modes = here.rule->modes();
      const DataPath path{.proxy = path_.proxy, .tells_replies = path_.tells_replies, .seen = seen.bears};
      const auto works = source_modes(path).works;
      const bool fits =
          std::ranges::any_of(modes, [&](SourceMode mode) { return std::ranges::find(works, mode) != works.end(); });
      if (!fits) unfit_.insert(here.rule->meta.name);
      out = out || !fits;
    }
    return out;
  }

  void conntrack() {
    say(level_of(facts_.conntrack), "conntrack",
        node_.dumped        ? "in no dump"
        : !facts_.conntrack ? "could not be found out"
        : *facts_.conntrack ? "the kernel follows connections"
                            : "the kernel follows no connections: Reply cannot work");
  }

  void reverse_path_filter() {
    const std::set<std::string> drops = node_.wishes ? dropping_by_wishes() : dropping_by_rules();
    if (!drops.empty()) {
      return say(Level::warn, "rp_filter",
                 fmt::format("1 (strict) on {}: drops what is steered by mark", fmt::join(drops, ", ")), "IPR0310");
    }
    if (facts_.reverse_path_filter.empty()) {
      return say(Level::unknown, "rp_filter", node_.dumped ? "in no dump" : "no device shows one");
    }
    if (const auto strict = strict_devices(false); !node_.observed && !strict.empty()) {
      return say(Level::unknown, "rp_filter",
                 fmt::format("1 (strict) on {}; its agent is too old to tell which tables lead there",
                             fmt::join(strict, ", ")));
    }
    const auto strict = strict_devices(true);
    say(Level::ok, "rp_filter",
        strict.empty() ? "not strict on any device that the tables lead to"
                       : fmt::format("1 (strict) on {}, where nothing is steered by mark", fmt::join(strict, ", ")));
  }

  // Those that tables are known to lead to, or those of which that is not known.
  std::set<std::string> strict_devices(bool with_tables) const {
    std::set<std::string> out;
    for (const auto& filter : node_.report.facts.reverse_path_filter) {
      if (filter.value == 1 && filter.tables.empty() != with_tables) out.insert(filter.device);
    }
    return out;
  }

  std::set<std::string> dropping_by_wishes() const {
    std::set<std::string> out;
    for (const RuleHere& here : rules_) {
      out.insert(here.prospect.strict_devices.begin(), here.prospect.strict_devices.end());
    }
    return out;
  }

  std::set<std::string> dropping_by_rules() const {
    std::set<std::string> out;
    for (const state::Rule& rule : seen_rules()) {
      if (!is_ours(rule) || !rule.selector.mark || rule.family != net::Family::v4) continue;
      for (const auto& filter : node_.report.facts.reverse_path_filter) {
        const bool is_used = std::ranges::find(filter.tables, rule.table) != filter.tables.end();
        if (filter.value == 1 && is_used) out.insert(filter.device);
      }
    }
    return out;
  }

  void local_rule() {
    if (!facts_.local_rule_priority) return say(Level::unknown, "local rule", "not found");
    const std::uint32_t at = *facts_.local_rule_priority;
    const bool behind =
        std::ranges::any_of(seen_rules(),
                            [&](const state::Rule& rule) { return is_ours(rule) && rule.priority < at; }) ||
        std::ranges::any_of(rules_, [&](const RuleHere& here) { return here.priority < at; });
    say(behind ? Level::warn : Level::ok, "local rule",
        fmt::format("at {}{}", at, behind ? ", behind rules of ours" : ""), behind ? "IPR0313" : "");
  }

  // Rules of others where ours stand or are to stand, about whatever packet: the older of two decides.
  void shared_priorities() {
    for (const state::Rule& rule : seen_rules()) {
      if (is_ours(rule) || rule.selector.from || rule.priority >= state::kPriorityMain) continue;
      const auto is_there = [&](const state::Rule& one) { return is_ours(one) && one.priority == rule.priority; };
      const auto is_wished = [&](const RuleHere& here) {
        return here.priority <= rule.priority && rule.priority <= here.last_priority;
      };
      if (std::ranges::none_of(seen_rules(), is_there) && std::ranges::none_of(rules_, is_wished)) continue;
      say(Level::warn, "priorities",
          fmt::format("{} is ours, and a foreign rule stands there: {}{}", rule.priority, state::text(rule),
                      known_users(rule.priority)),
          std::string(intent::kNumberOfOthers));
    }
  }

  // " (Cilium keeps the rule for local, which it moves from 0)"
  static std::string known_users(std::uint32_t priority) {
    std::string out;
    for (const state::KnownNumber& known : state::known_numbers()) {
      if (known.kind != state::KnownNumber::Kind::priority || !known.covers(priority)) continue;
      out += fmt::format("{}{} {}", out.empty() ? " (" : "; ", known.who, known.what);
    }
    return out.empty() ? out : out + ")";
  }

  void mark_bits() {
    const std::uint32_t window = intent::mark_window(facts_);
    for (const state::Rule& rule : seen_rules()) {
      if (is_ours(rule) || !rule.selector.mark || (rule.selector.mark->mask & window) == 0) continue;
      return say(Level::warn, "mark bits",
                 fmt::format("{:#x} is ours, and a foreign rule looks at it: {}", window, state::text(rule)),
                 "IPR0104");
    }
    const bool kube_proxy = facts_.service_proxy != ServiceProxy::none && facts_.service_proxy != ServiceProxy::unknown;
    say(Level::ok, "mark bits",
        fmt::format("no foreign rule looks at {:#x}{}", window,
                    kube_proxy ? "; kube-proxy has 0x4000 and 0x8000" : ""));
  }

  // A table whose routes nobody has dumped is not an empty one.
  void unshown_tables() {
    std::set<std::pair<std::uint32_t, net::Family>> told;
    for (const state::TableUse& use : facts_.tables) told.emplace(use.table, use.family);
    for (const state::Rule& rule : seen_rules()) {
      if (!is_ours(rule) || rule.table == 0 || rule.table == state::kTableMain) continue;
      if (!told.emplace(rule.table, rule.family).second) continue;
      say(Level::unknown, fmt::format("table {}", state::words::named(state::words::kTables, rule.table)),
          fmt::format("its {} routes are in no dump; make one with `ip -j route show table all`",
                      net::text(rule.family)));
    }
  }

  void rule_walk() {
    say(Level::ok, "rule walk",
        fmt::format(
            "{} rules, {} ours; auto changes to marks above {} sources",
            node_.observed->rules.size() + node_.observed->opaque_rules.size(),
            std::ranges::count_if(node_.observed->rules, [&](const state::Rule& rule) { return is_ours(rule); }),
            dataplane::kMarksAbove));
  }

  bool is_ours(const state::Rule& rule) const { return rule.protocol == node_.protocol; }

  std::span<const state::Rule> seen_rules() const {
    return node_.observed ? std::span<const state::Rule>(node_.observed->rules) : std::span<const state::Rule>();
  }

  const Examined& node_;
  const state::NodeFacts& facts_;
  std::vector<RuleHere> rules_;
  DataPath path_;
  std::set<std::string> unfit_;
  std::vector<Line> lines_;
};

}  // namespace

Examination examine(const Examined& node) {
  return Examiner(node).run();
}

}  // namespace cli
