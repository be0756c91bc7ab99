#include "cli/plan_cluster.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "agent/preview.h"
#include "api/kinds.h"
#include "cli/assignment.h"
#include "cli/findings.h"
#include "cli/gaps.h"
#include "cli/object_changes.h"
#include "cli/plan_page.h"
#include "cli/steering_obstacles.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::size_t kShownObjects = 20;

// The addresses of all nodes; nothing where one of them names none.
std::optional<std::set<net::Address>> addresses_of(const std::vector<api::Node>& nodes) {
  std::set<net::Address> out;
  for (const api::Node& node : nodes) {
    if (node.addresses.empty()) return std::nullopt;
    out.insert(node.addresses.begin(), node.addresses.end());
  }
  return out;
}

// What the objects come to once they are applied: of those that the manifests name all, of others what is new. Tables
// and filters are told with each node.
std::vector<Finding> findings_of(const ClusterObjects& before, const ClusterObjects& after,
                                 const agent::Manifests& changes, const std::vector<std::string>& nodes) {
  auto sights = sights_in(after);
  std::erase_if(sights, [&](const NodeSight& one) { return std::ranges::find(nodes, one.name) == nodes.end(); });
  for (NodeSight& one : sights) {
    one.facts.tables.clear();
    one.facts.reverse_path_filter.clear();
    one.clash.clear();
  }
  std::set<std::string> named;
  for (const api::IPRule& rule : changes.rules) named.insert("IPRule/" + rule.meta.name);
  for (const api::Service& service : changes.services) named.insert("Service/" + meta::full_name(service.meta));
  auto out = findings_in(after.wanted, sights);
  const auto known = findings_in(before.wanted, sights);
  std::erase_if(out, [&](const Finding& one) {
    return !named.contains(one.object) && std::ranges::find(known, one) != known.end();
  });
  return out;
}

// What one node would do, and by whose word.
struct NodePlan {
  Answer answer;
  PlanSum sum;
  bool asked = false;
};

class ClusterPlan {
 public:
  ClusterPlan(const ClusterObjects& objects, const agent::Manifests& changes, const ClusterPlanOptions& options)
      : before_(objects), after_(objects), changes_(changes), options_(options) {
    after_.wanted = laid_over(objects.wanted, changes);
    own_ = addresses_of(after_.wanted.nodes);
    gaps_ = objects.gaps;
  }

  void add(const std::string& node) {
    NodePlan plan = plan_of(node);
    if (!plan.sum.is_nothing()) ++changing_;
    if (plan.asked) ++asked_;
    if (plan.answer.code == ExitCode::could_not_ask) {
      gaps_.push_back(fmt::format("the kernel of {}: not seen whole", node));
    }
    sum_.added += plan.sum.added;
    sum_.changed += plan.sum.changed;
    sum_.removed += plan.sum.removed;
    nodes_.push_back(node);
    auto& [members, shown] = groups_[{options_.full ? node : "", plan.asked, plan.answer.json}];
    members.push_back(node);
    shown = std::move(plan);
  }

  Answer answer() && {
    const auto objects = object_changes(before_.wanted, changes_);
    const auto findings = findings_of(before_, after_, changes_, nodes_);
    Answer out;
    show_objects(out.page, objects);
    for (const Finding& finding : findings) put(out.page, finding);
    for (const auto& [key, group] : groups_) show_group(out.page, group.first, group.second);
    sum_.warnings += static_cast<std::size_t>(
        std::ranges::count_if(findings, [](const Finding& one) { return one.severity >= Severity::warning; }));
    out.page.line("Plan: {} on {} of {} nodes{}. {}.", text(sum_), changing_, nodes_.size(),
                  warnings_text(sum_.warnings), sources());
    const bool wrong = std::ranges::find(findings, Severity::error, &Finding::severity) != findings.end();
    if (changing_ > 0 || wrong) out.code = ExitCode::attention;
    add_gaps(out, gaps_);
    out.json = document(objects, findings);
    return out;
  }

 private:
  NodePlan plan_of(const std::string& node) {
    if (options_.ask) {
      auto answer = ask(node);
      const auto sum = answer ? sum_in(answer->json) : base::Result<PlanSum>(std::unexpected(answer.error()));
      if (sum) return {.answer = *std::move(answer), .sum = *sum, .asked = true};
      gaps_.push_back(fmt::format("the kernel of {}: {}", node, sum.error().message()));
    }
    Answer answer = plan_by_objects(node);
    const PlanSum sum = sum_in(answer.json).value_or(PlanSum());
    return {.answer = std::move(answer), .sum = sum};
  }

  base::Result<Answer> ask(const std::string& node) {
    if (!before_.gaps.empty()) {
      return base::fail(base::Fault::unavailable, "not asked, because what is wanted of it is not known whole");
    }
    return options_.ask(node, {.about = Question::About::plan, .wanted = TRY(supposed_assignment(after_, node))});
  }

  Answer plan_by_objects(const std::string& node) const {
    const api::NodeState* report = report_of(before_, node);
    const state::NodeFacts facts = report != nullptr ? reported_facts(*report) : state::NodeFacts();
    const state::Observation now =
        state::Verified{agent::wanted_on(before_.wanted, node, settings_on(before_, node), facts)};
    const auto preview = agent::preview(after_.wanted, node, settings_on(after_, node), now, facts);
    PlanStory story{.title = {}, .skipped = preview.skipped, .doubt = {}};
    for (const SteeringObstacle& one : obstacles_to(preview.wanted, facts)) {
      story.findings.push_back({.severity = Severity::warning, .code = one.code, .object = {}, .message = one.what});
    }
    // Agents report on the tables that they look up, and on no others.
    const auto looked_up = tables_of(state::state_of(now));
    for (const auto& [table, family] : tables_of(preview.wanted)) {
      if (looked_up.contains({table, family})) continue;
      story.unknown.push_back(fmt::format("table {}: whether it has {} routes nobody has looked yet; --node asks",
                                          table, net::text(family)));
    }
    story.own = own_;
    story.with_sum = false;
    return show_plan(preview.todo, story);
  }

  void show_objects(Page& page, const std::vector<ObjectChange>& objects) const {
    std::size_t shown = 0;
    std::size_t more = 0;
    for (const ObjectChange& one : objects) {
      if (!one.changes()) continue;
      if (++shown > kShownObjects) {
        ++more;
        continue;
      }
      page.put(text(one), Tone::strong).put(selected_text(one)).end_line();
    }
    if (more > 0) page.line("and {} more objects that change", more);
  }

  // "  3 nodes", of an IPRule.
  std::string selected_text(const ObjectChange& change) const {
    for (const api::IPRule& rule : after_.wanted.rules) {
      if ("IPRule/" + rule.meta.name != change.object) continue;
      const auto selected = std::ranges::count_if(after_.wanted.nodes, [&](const api::Node& node) {
        return rule.spec.node_selector.matches(node.meta.labels);
      });
      return fmt::format("  {} node{}", selected, selected == 1 ? "" : "s");
    }
    return "";
  }

  // What does nothing and has nothing to say is not told.
  void show_group(Page& page, const std::vector<std::string>& members, const NodePlan& plan) {
    sum_.warnings += plan.sum.warnings;
    if (plan.answer.page.empty()) return;
    page.line("{}{}", names_text(members), plan.asked ? ", by its kernel, asked now" : "");
    page.append(plan.answer.page);
  }

  std::string sources() const {
    if (asked_ == 0) return "As far as objects tell: no kernel was asked";
    if (asked_ == nodes_.size()) return "By their kernels, asked now";
    return fmt::format("By the kernels of {}, and by what objects tell of the others", asked_);
  }

  std::string document(const std::vector<ObjectChange>& objects, const std::vector<Finding>& findings) const {
    return json::object([&](json::Object& out) {
      out.put("apiVersion", api::kApiVersion);
      out.put("kind", "ClusterPlan");
      out.array("groups", [&](json::Array& list) {
        for (const auto& [key, group] : groups_) list.object([&](json::Object& item) { put_group(item, group); });
      });
      out.array("objects", [&](json::Array& list) {
        for (const ObjectChange& one : objects) list.object([&](json::Object& item) { put_object(item, one); });
      });
      out.array("warnings", [&](json::Array& list) {
        for (const Finding& one : findings) list.object([&](json::Object& item) { put(item, one); });
      });
      out.object("sum", [&](json::Object& sum) {
        sum.put("add", sum_.added);
        sum.put("change", sum_.changed);
        sum.put("delete", sum_.removed);
        sum.put("warnings", sum_.warnings);
        sum.put("changingNodes", changing_);
        sum.put("nodes", nodes_.size());
      });
      put_gaps(out, gaps_);
    });
  }

  using Group = std::pair<std::vector<std::string>, NodePlan>;  // Nodes that would do the same.

  static void put_group(json::Object& out, const Group& group) {
    out.array("nodes", [&](json::Array& own) {
      for (const std::string& member : group.first) own.put(member);
    });
    out.put("source", group.second.asked ? "kernel" : "objects");
    out.put_json("plan", group.second.answer.json);
  }

  static void put_object(json::Object& out, const ObjectChange& change) {
    out.put("object", change.object);
    out.put("change", change.is_new ? "new" : change.fields.empty() ? "none" : "spec");
    out.put_unless_empty("generation", change.generation);
    out.array("fields", [&](json::Array& list) {
      for (const FieldChange& field : change.fields) {
        list.object([&](json::Object& item) {
          item.put("path", field.path);
          item.put_json("from", field.from);
          item.put_json("to", field.to);
        });
      }
    });
  }

  const ClusterObjects& before_;
  ClusterObjects after_;
  const agent::Manifests& changes_;
  const ClusterPlanOptions& options_;
  std::optional<std::set<net::Address>> own_;
  std::vector<std::string> gaps_;
  std::vector<std::string> nodes_;
  std::map<std::tuple<std::string, bool, std::string>, Group> groups_;  // By what is to be done, and who says so.
  PlanSum sum_;                                                         // Over all nodes; warnings once for each group.
  std::size_t changing_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace

base::Result<Answer> plan_in_cluster(const ClusterObjects& objects, const agent::Manifests& changes,
                                     const ClusterPlanOptions& options) {
  ClusterPlan plan(objects, changes, options);
  const auto nodes = TRY(chosen_nodes(objects, options.nodes));
  for (const std::string& node : nodes) plan.add(node);
  return std::move(plan).answer();
}

}  // namespace cli
