#include "cli/explain_object.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "base/nearest_word.h"
#include "cli/findings.h"
#include "cli/gaps.h"
#include "cli/plan_page.h"
#include "cli/steering.h"
#include "json/writer.h"

namespace cli {
namespace {

template <typename Kind>
base::Result<const Kind*> find_by_name(const std::vector<Kind>& objects, const std::string& name) {
  std::vector<std::string> others;
  for (const Kind& one : objects) {
    if (one.meta.name == name) return &one;
    others.push_back(one.meta.name);
  }
  const std::string nearest = base::nearest_word(name, others);
  return base::fail(base::Fault::invalid,
                    fmt::format("there is no {} \"{}\"{}", Kind::kKind, name,
                                nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest)));
}

// Conditions whose True is bad news.
bool is_bad(const meta::Condition& condition) {
  const bool names_trouble = condition.type == "Conflicted" || condition.type == "RoutesMissing";
  return condition.status == (names_trouble ? meta::Truth::yes : meta::Truth::no);
}

// Types that only say that something is not the case.
bool is_quiet(const meta::Condition& condition) {
  return condition.type == "NodeSelectorLabelIgnored" || (condition.message.empty() && !is_bad(condition));
}

// What is known of an object, gathered for both readers.
class ObjectPage {
 public:
  explicit ObjectPage(std::string object) : object_(std::move(object)) {}

  Page& page() { return answer_.page; }

  void conditions(const std::vector<meta::Condition>& all) {
    conditions_ = all;
    Table table(2);
    for (const meta::Condition& one : all) {
      if (is_quiet(one)) continue;
      table.row({one.type,
                 {std::string(meta::text(one.status)), is_bad(one) ? Tone::bad : Tone::plain},
                 fmt::format("{}{}{}", one.reason, one.message.empty() ? "" : ": ", one.message)});
      if (is_bad(one)) attention("");
    }
    table.print(answer_.page);
  }

  void finding(const Finding& finding) {
    put(answer_.page, finding);
    findings_.push_back(finding);
    if (finding.severity >= Severity::warning) attention(finding.code);
  }

  void attention(const std::string& code) {
    answer_.code = ExitCode::attention;
    if (code_.empty()) code_ = code;
  }

  // `more`: what only this kind has.
  template <typename Fill>
  Answer answer(const std::vector<std::string>& gaps, Fill more) && {
    const bool well = answer_.code == ExitCode::fine;
    answer_.page.put("Verdict  ")
        .put(well ? "as wanted" : "NOT AS WANTED", well ? Tone::good : Tone::bad)
        .put(well            ? ", as far as reports tell"
             : code_.empty() ? ""
                             : "  " + code_)
        .end_line();
    if (!well) answer_.page.line("Next     iprulectl {}", code_.empty() ? "status" : "explain " + code_);
    add_gaps(answer_, gaps);
    answer_.json = json::object([&](json::Object& out) {
      out.put("apiVersion", api::kApiVersion);
      out.put("kind", "ObjectExplanation");
      out.put("object", object_);
      out.put("asWanted", well);
      out.put_unless_empty("code", code_);
      more(out);
      out.array("findings", [&](json::Array& list) {
        for (const Finding& one : findings_) list.object([&](json::Object& item) { put(item, one); });
      });
      meta::encode_conditions(out, conditions_);
      put_gaps(out, gaps);
    });
    return std::move(answer_);
  }

 private:
  std::string object_;
  std::string code_;  // Of the first thing that is wrong.
  std::vector<meta::Condition> conditions_;
  std::vector<Finding> findings_;
  Answer answer_;
};

std::string target_text(std::uint32_t table, const std::string& vrf) {
  return vrf.empty() ? fmt::format("table {}", table) : "vrf " + vrf;
}

std::string mode_list(const std::vector<api::SourceMode>& modes) {
  std::vector<std::string_view> words;
  for (const api::SourceMode mode : modes) words.push_back(api::text(mode));
  return fmt::format("{}", fmt::join(words, ", "));
}

// What one IPRule does for a Service.
struct Steers {
  const api::Service* service;
  Steering steering;
};

std::vector<Steers> steered_by(const ClusterObjects& objects, const Steerings& all, const api::IPRule& rule) {
  std::vector<Steers> out;
  for (const api::Service& service : objects.wanted.services) {
    for (const Steering& one : all.of(service)) {
      if (one.rule == &rule) out.push_back({.service = &service, .steering = one});
    }
  }
  return out;
}

Answer explain_rule(const ClusterObjects& objects, const api::IPRule& rule) {
  const std::string object = "IPRule/" + rule.meta.name;
  ObjectPage out(object);
  const auto priority =
      intent::effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), agent::default_priority(objects.wanted));
  out.page().line("{}  {} -> {}, priority {}, source {}", object,
                  fmt::join(rule.spec.cidr.empty() ? rule.spec.cidrs : std::vector{rule.spec.cidr}, ", "),
                  target_text(rule.spec.table, rule.spec.vrf), priority, mode_list(rule.modes()));
  const Steerings all(objects);
  const auto steered = steered_by(objects, all, rule);
  Table table(2);
  for (const Steers& one : steered) {
    const bool well = one.steering.is_well();
    table.row(
        {"Service/" + meta::full_name(one.service->meta),
         fmt::format("{} {}", api::text(one.steering.desired->tuple.mode), one.steering.desired->tuple.source.text()),
         {well ? "as wanted" : "NOT AS WANTED", well ? Tone::plain : Tone::bad},
         one.steering.supposed               ? "would be published"
         : one.steering.published == nullptr ? "not published yet"
                                             : fmt::format("{}/{} nodes", one.steering.reported, one.steering.nodes)});
    if (!well) out.attention(std::string(one.steering.effective != nullptr ? code_of(*one.steering.effective) : ""));
  }
  table.print(out.page());
  // Those that are about it, and those that name it last: "from IPRule/public-eu", "used by IPRule/public-eu".
  for (const Finding& finding : findings_in(objects.wanted, sights_in(objects))) {
    if (finding.object == object || finding.message.ends_with(object)) out.finding(finding);
  }
  if (!objects.supposed) out.conditions(rule.status.conditions);
  return std::move(out).answer(objects.gaps, [&](json::Object& json) {
    json.array("services", [&](json::Array& list) {
      for (const Steers& one : steered) {
        list.object([&](json::Object& item) {
          item.put("service", meta::full_name(one.service->meta));
          item.put("sourceMode", api::text(one.steering.desired->tuple.mode));
          item.put("source", one.steering.desired->tuple.source.text());
          item.put("asWanted", one.steering.is_well());
          item.put("appliedNodes", one.steering.reported);
          item.put("nodes", one.steering.nodes);
        });
      }
    });
  });
}

Answer explain_config(const ClusterObjects& objects, const api::IPRuleConfig& config) {
  const std::string object = "IPRuleConfig/" + config.meta.name;
  ObjectPage out(object);
  const auto& spec = config.spec;
  out.page().line("{}  {} {} -> {}, priority {}, {}", object, api::text(spec.source_mode), spec.service_ip,
                  target_text(api::table_of(spec), spec.vrf),
                  spec.priority != 0 ? fmt::to_string(spec.priority) : "of the Agent", api::text(spec.state));
  for (const meta::OwnerReference& owner : config.meta.owners) {
    out.page().line("  made for {}/{}", owner.kind, owner.name);
  }
  if (config.meta.owners.empty() || !config.is_managed()) {
    out.page().put("  ").put("not made by the controller: agents do not follow it", Tone::warning).end_line();
    out.attention("");
  }
  if (config.meta.terminating()) out.page().line("  being deleted: waits until every node has let go of it");
  for (const auto& failure : config.status.nodes) {
    out.page()
        .put("  ")
        .put(fmt::format("{}: {}: {}", failure.node, failure.reason, failure.message), Tone::bad)
        .end_line();
    out.attention("");
  }
  out.conditions(config.status.conditions);
  return std::move(out).answer(objects.gaps, [&](json::Object& json) {
    json.array("failingNodes", [&](json::Array& list) {
      for (const auto& failure : config.status.nodes) list.put(failure.node);
    });
  });
}

Answer explain_agent(const ClusterObjects& objects, const api::Agent& agent) {
  ObjectPage out("Agent/" + agent.meta.name);
  const api::Agent* active = agent::active_agent(objects.wanted);
  out.page().line("Agent/{} in name space {}, dataplane {}, priority {} where an IPRule names none", agent.meta.name,
                  agent.meta.ns, names(agent.spec.dataplane)[static_cast<std::size_t>(agent.spec.dataplane)],
                  api::default_priority(agent.spec));
  if (active != &agent) {
    out.page()
        .put("  ")
        .put(fmt::format("does not count: {} does", active != nullptr ? "Agent/" + active->meta.name : "none"),
             Tone::warning)
        .end_line();
    out.attention("");
  }
  out.conditions(agent.status.conditions);
  return std::move(out).answer(objects.gaps, [&](json::Object& json) { json.put("counts", active == &agent); });
}

}  // namespace

base::Result<Answer> explain_object(const ClusterObjects& objects, const Subject& subject) {
  if (subject.kind == Subject::Kind::rule) {
    return explain_rule(objects, *TRY(find_by_name(objects.wanted.rules, subject.name)));
  }
  if (subject.kind == Subject::Kind::config) {
    return explain_config(objects, *TRY(find_by_name(objects.configs, subject.name)));
  }
  return explain_agent(objects, *TRY(find_by_name(objects.wanted.agents, subject.name)));
}

}  // namespace cli
