#include "cli/explain.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "agent/preview.h"
#include "api/kinds.h"
#include "cli/state_folder.h"
#include "cli/this_host.h"
#include "json/writer.h"
#include "kernel/rtnl/link_table.h"
#include "kernel/rtnl/route_query.h"
#include "kernel/sysctl.h"
#include "path/marking.h"
#include "state/words.h"

namespace cli {
namespace {

using state::words::refuse;

constexpr std::size_t kShownMisses = 20;

bool is_ours(const state::Rule& rule) {
  return rule.protocol == api::kRuleProtocol;
}

std::string effect_text(const path::Step& step, const Explanation& explanation) {
  const state::Rule& rule = *step.rule;
  switch (step.effect) {
    case path::Step::Effect::not_matched:
      return "no match: " + path::mismatch(rule, explanation.packet, explanation.observed);
    case path::Step::Effect::no_route: {
      const bool empty = std::ranges::none_of(explanation.observed.routes, [&](const state::Route& route) {
        return route.table == rule.table && route.family == rule.family;
      });
      return empty && is_ours(rule) ? fmt::format("table {} is empty  IPR0311", rule.table) : "no route";
    }
    case path::Step::Effect::thrown_back:
      return text(*step.route);
    case path::Step::Effect::suppressed:
      return fmt::format("{} does not count: too short", text(*step.route));
    case path::Step::Effect::jumped:
      return fmt::format("goes on at {}", rule.target);
    case path::Step::Effect::jump_is_lost:
      return fmt::format("no rule {}: goes on", rule.target);
    case path::Step::Effect::passed:
      return "goes on";
    case path::Step::Effect::decided:
      return step.route != nullptr ? text(*step.route) : path::text(explanation.walk.verdict);
  }
  return "";
}

// "1000: from 10.0.0.7 lookup 100" without its number.
std::string rule_words(const state::Rule& rule) {
  const std::string whole = state::text(rule);
  return whole.substr(whole.find(' ') + 1);
}

// All that the packet met, and of what it passed by only our own: somebody may have expected them to catch it.
Table steps_table(const Explanation& explanation) {
  Table table(2);
  std::size_t misses = 0;
  std::size_t others = 0;
  for (const path::Step& step : explanation.walk.steps) {
    const bool missed = step.effect == path::Step::Effect::not_matched;
    if (missed && (!is_ours(*step.rule) || ++misses > kShownMisses)) {
      ++others;
      continue;
    }
    const bool decided = step.effect == path::Step::Effect::decided;
    table.row({fmt::format("rule {}", step.rule->priority),
               rule_words(*step.rule),
               {effect_text(step, explanation), decided ? Tone::strong : Tone::plain}});
  }
  if (others > 0)
    table.row(
        {"", "", others == 1 ? "1 other rule does not match" : fmt::format("{} other rules do not match", others)});
  return table;
}

std::string verdict_text(const path::Verdict& verdict) {
  std::string out = path::text(verdict);
  if (verdict.table != 0) out += fmt::format(" (table {})", state::words::named(state::words::kTables, verdict.table));
  return out;
}

bool differs(const Explanation& explanation) {
  return explanation.kernel && *explanation.kernel && !path::agree(explanation.walk.verdict, **explanation.kernel);
}

// Who asks from elsewhere knows VRFs by name, and verdicts have tables.
void put_vrfs(json::Object& out, const state::NetState& observed) {
  const auto is_vrf = [](const state::ObservedLink& seen) { return seen.link.kind == state::LinkKind::vrf; };
  if (std::ranges::none_of(observed.observed_links, is_vrf)) return;
  out.array("vrfs", [&](json::Array& list) {
    for (const state::ObservedLink& seen : observed.observed_links) {
      if (!is_vrf(seen)) continue;
      list.object([&](json::Object& item) {
        item.put("name", seen.link.name.text());
        item.put("table", seen.link.table);
      });
    }
  });
}

std::string json_of(const Explanation& explanation) {
  const auto put_verdict = [](json::Object& out, const path::Verdict& verdict) {
    out.put("text", verdict_text(verdict));
    out.put_unless_empty("table", verdict.table);
    out.array("hops", [&](json::Array& hops) {
      for (const state::RouteHop& hop : verdict.hops) {
        hops.object([&](json::Object& item) {
          item.put("dev", hop.dev.text());
          if (hop.via) item.put("via", hop.via->text());
        });
      }
    });
  };
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Explanation");
    out.put("packet", describe(explanation.packet));
    out.put("iifAssumed", explanation.iif_assumed);
    out.put("marked", explanation.marked);
    out.put_unless_empty("supposed", explanation.supposed);
    out.put_unless_empty("offline", explanation.dumped);
    out.array("steps", [&](json::Array& steps) {
      for (const path::Step& step : explanation.walk.steps) {
        steps.object([&](json::Object& item) {
          item.put("rule", state::text(*step.rule));
          item.put("outcome", effect_text(step, explanation));
        });
      }
    });
    out.object("verdict", [&](json::Object& verdict) { put_verdict(verdict, explanation.walk.verdict); });
    if (explanation.kernel && *explanation.kernel) {
      out.object("kernel", [&](json::Object& verdict) { put_verdict(verdict, **explanation.kernel); });
      out.put("agree", !differs(explanation));
    }
    if (explanation.live) {
      out.object("live", [&](json::Object& live) { put_live(live, *explanation.live, explanation.walk.verdict); });
    }
    put_vrfs(out, explanation.observed);
    out.array("doubts", [&](json::Array& doubts) {
      for (const std::string& doubt : explanation.walk.doubts) doubts.put(doubt);
    });
    out.array("notes", [&](json::Array& notes) {
      for (const std::string& note : explanation.notes) notes.put(note);
    });
  });
}

// A packet with another host's source came in somewhere: by the device of the way back, if nobody says otherwise.
base::Status assume_iif(Explanation& explanation) {
  path::Packet& packet = explanation.packet;
  if (!packet.iif.empty() || packet.from.is_unspecified()) return {};
  const path::Verdict back = path::walk(explanation.observed, {.to = packet.from}).verdict;
  if (back.kind == path::Verdict::Kind::delivered) return {};
  if (back.kind != path::Verdict::Kind::leaves) {
    return refuse("--iif", fmt::format("say by which device packets from {} come in: this host has no route to it",
                                       packet.from.text()));
  }
  packet.iif = back.hops.front().dev;
  explanation.iif_assumed = true;
  return {};
}

void note_forwarding(Explanation& explanation) {
  const path::Packet& packet = explanation.packet;
  if (packet.iif.empty()) return;
  const auto forwards =
      kernel::read_sysctl({.family = packet.to.family(), .name = state::SysctlName::forwarding, .dev = packet.iif});
  if (forwards && *forwards == 0 && explanation.walk.verdict.kind == path::Verdict::Kind::leaves) {
    explanation.explained = true;
    explanation.notes.push_back(
        fmt::format("nothing that comes in by {} is forwarded: its sysctl forwarding is 0", packet.iif.text()));
  }
}

// Neither our walk nor the kernel's lookup sees nftables: what it would write has to be put on the packet.
void mark_packet(Explanation& explanation, const std::optional<net::Address>& reply_of) {
  const state::NetState& observed = explanation.observed;
  if (!observed.nft_unknown.empty()) {
    explanation.notes.push_back(
        fmt::format("our nft table could not be read, so what it marks is not known: {}", observed.nft_unknown));
  }
  const std::uint32_t mark =
      observed.nft ? path::marked(*observed.nft, explanation.packet, reply_of) : explanation.packet.mark;
  explanation.marked = mark != explanation.packet.mark;
  explanation.packet.mark = mark;
  if (reply_of && !explanation.marked) {
    explanation.notes.push_back(
        fmt::format("replies of connections to {} get no mark here: no Reply is programmed for it, or the client is "
                    "inside the cluster",
                    reply_of->text()));
  }
}

// The kernel has one word, "invalid", for a blackhole and for a packet that cannot come in there.
void note_refusal(Explanation& explanation) {
  const path::Packet& packet = explanation.packet;
  const bool refused =
      explanation.kernel && *explanation.kernel && (*explanation.kernel)->kind == path::Verdict::Kind::dropped;
  if (!refused || explanation.walk.verdict.kind == path::Verdict::Kind::dropped || packet.iif.empty()) return;
  explanation.explained = true;
  const auto filter = packet.to.family() == net::Family::v4 ? kernel::effective_rp_filter(packet.iif) : 0;
  if (filter && *filter == 1) {
    explanation.notes.push_back(
        fmt::format("{} has a strict reverse path filter: packets from {} may not come in there  IPR0310",
                    packet.iif.text(), packet.from.text()));
  } else {
    explanation.notes.push_back(fmt::format("the kernel takes a packet from {} on {} for one that cannot be",
                                            packet.from.text(), packet.iif.text()));
  }
}

// Ours as is desired, everything else as it is.
state::NetState placed_over(state::NetState out, const state::NetState& desired, std::uint8_t protocol) {
  std::erase_if(out.rules, [&](const state::Rule& rule) { return rule.protocol == protocol; });
  out.rules.insert(out.rules.end(), desired.rules.begin(), desired.rules.end());
  // As the kernel would have them: a new rule stands behind older ones of its priority.
  std::ranges::stable_sort(out.rules, {},
                           [](const state::Rule& rule) { return std::pair(rule.family, rule.priority); });
  out.nft = desired.nft;
  out.nft_unknown.clear();
  return out;
}

// The host as it would be: ours as the objects want it, everything else as it is.
base::Result<state::NetState> as_if(ThisHost& host, const Assignment& wanted) {
  const state::Observation now = state::Verified{.state = TRY(host.observe())};
  const auto configs = published(wanted);
  const auto facts = TRY(agent::facts_for(host.socket(), configs, wanted.node, wanted.settings, now));
  const state::NetState desired = agent::wanted_on(configs, wanted.node, wanted.settings, now, facts);
  std::set<std::uint32_t> tables;
  for (const state::Rule& rule : desired.rules) tables.insert(rule.table);
  return placed_over(TRY(host.observe(std::move(tables))), desired, wanted.settings.protocol);
}

// The same of a host that only dumps tell of.
state::NetState as_if(const DumpedHost& host, const Assignment& wanted) {
  const state::Observation now = state::Verified{.state = host.state};
  state::NodeFacts facts = state::facts_of(host.state, {});
  facts.service_proxy = host.service_proxy;
  const auto desired = agent::wanted_on(published(wanted), wanted.node, wanted.settings, now, facts);
  return placed_over(host.state, desired, wanted.settings.protocol);
}

// Without a dump of them, the devices that routes name: a walk takes no way by one that it does not know.
void assume_links(Explanation& explanation) {
  std::set<net::InterfaceName> names;
  for (const state::Route& route : explanation.observed.routes) {
    for (const state::RouteHop& hop : route.hops) names.insert(hop.dev);
  }
  for (const net::InterfaceName& name : names) {
    explanation.observed.observed_links.push_back({.link = {.name = name, .up = true}});
  }
  explanation.notes.emplace_back(
      "every device is taken to be up, and VRFs are not known: make addr.json with `ip -j -d addr`");
}

bool has_device(const state::NetState& observed, const net::InterfaceName& name) {
  return std::ranges::any_of(observed.observed_links,
                             [&](const state::ObservedLink& seen) { return seen.link.name == name; });
}

}  // namespace

Answer show(const Explanation& explanation) {
  Answer answer;
  Page& page = answer.page;
  const bool different = differs(explanation);
  if (different) {
    page.put(!explanation.explained ? "The walk and the kernel differ: one of us is wrong."
                                    : "Rules and routes have a way for it, but the kernel does not take it: see below.",
             Tone::bad)
        .end_line();
    answer.code = ExitCode::attention;
  }
  page.line("{}{}{}", describe(explanation.packet), explanation.marked ? ", marked by table inet iprule" : "",
            explanation.iif_assumed ? " (its way back; --iif names another)" : "");
  steps_table(explanation).print(page);
  page.put("Verdict  ").put(verdict_text(explanation.walk.verdict), Tone::strong).end_line();
  if (explanation.kernel && !*explanation.kernel) {
    page.put("Kernel   ").put("did not answer: " + explanation.kernel->error().message(), Tone::warning).end_line();
    answer.code = ExitCode::could_not_ask;
  } else if (explanation.dumped) {
    page.line("Kernel   not asked: this is what the dumps {}",
              explanation.supposed ? "and the manifests come to" : "say");
  } else if (explanation.supposed) {
    page.line("Kernel   not asked: this is how it would be, once applied");
  } else if (explanation.kernel) {
    page.put("Kernel   ");
    if (different) {
      page.put(verdict_text(**explanation.kernel), Tone::bad).end_line();
    } else {
      page.put("agrees", Tone::good).end_line();
    }
  }
  for (const std::string& doubt : explanation.walk.doubts) {
    page.put("Doubt    ").put(fmt::format("not understood here: {}", doubt), Tone::warning).end_line();
  }
  for (const std::string& note : explanation.notes) page.put("Note     ").put(note, Tone::warning).end_line();
  if (explanation.live) {
    show_live(page, *explanation.live, explanation.walk.verdict);
    if (explanation.live->seen.packets.empty()) answer.code = ExitCode::waited_in_vain;
    // What could not be asked, or did not come, beats what is known to be wrong.
    if (strays(*explanation.live, explanation.walk.verdict) > 0)
      answer.code = std::max(answer.code, ExitCode::attention);
  }
  answer.json = json_of(explanation);
  return answer;
}

base::Result<Answer> explain_packet(path::Packet packet, const std::optional<net::Address>& reply_of,
                                    const std::optional<Assignment>& supposed, const std::optional<LiveWish>& live) {
  if (supposed && live) return refuse("--live", "what is only supposed sends no packets");
  const path::Packet flow = packet;  // Before anything is assumed of it.
  Explanation explanation{.packet = packet, .supposed = supposed.has_value()};
  auto host = TRY(ThisHost::open());
  auto observed = supposed ? as_if(host, *supposed) : host.observe();
  explanation.observed = TRY(std::move(observed));
  TRY(assume_iif(explanation));
  mark_packet(explanation, reply_of);
  explanation.walk = path::walk(explanation.observed, explanation.packet);
  const auto links = TRY(kernel::rtnl::read_link_table(host.socket()));
  if (!explanation.packet.iif.empty() && !links.index_of(explanation.packet.iif)) {
    return refuse("--iif", fmt::format("this host has no device {}", explanation.packet.iif.text()));
  }
  if (!supposed) explanation.kernel = kernel::rtnl::ask_route(host.socket(), explanation.packet, links);
  note_forwarding(explanation);
  note_refusal(explanation);
  if (live) explanation.live = TRY(watch_live(flow, *live, links));
  return show(explanation);
}

base::Result<Answer> explain_packet_by_dumps(path::Packet packet, const std::optional<net::Address>& reply_of,
                                             const std::filesystem::path& folder,
                                             const std::optional<Assignment>& supposed) {
  const DumpedHost host = TRY(read_state_folder(folder));
  if (!host.routes.contains(packet.to.family())) {
    return base::fail(base::Fault::invalid,
                      fmt::format("{}: no dump has the {} routes of all tables; make route.json with `ip -j route show "
                                  "table all`",
                                  folder.native(), net::text(packet.to.family())));
  }
  Explanation explanation{.packet = packet, .supposed = supposed.has_value(), .dumped = true};
  explanation.observed = supposed ? as_if(host, *supposed) : host.state;
  if (!host.links) assume_links(explanation);
  TRY(assume_iif(explanation));
  if (!explanation.packet.iif.empty() && !has_device(explanation.observed, explanation.packet.iif)) {
    return refuse("--iif", fmt::format("the dumps have no device {}", explanation.packet.iif.text()));
  }
  mark_packet(explanation, reply_of);
  explanation.walk = path::walk(explanation.observed, explanation.packet);
  return show(explanation);
}

}  // namespace cli
