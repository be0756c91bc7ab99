#include "cli/plan_page.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/plan_line.h"
#include "cli/protected_paths.h"
#include "json/reader.h"

namespace cli {
namespace {

Tone tone_of(char sign) {
  return sign == '+' ? Tone::good : sign == '-' ? Tone::bad : Tone::warning;
}

// What somebody should know besides the lines.
std::vector<Finding> warnings_of(const plan::Plan& plan, const PlanStory& story) {
  std::vector<Finding> out;
  const auto warn = [&](std::string code, std::string what) {
    out.push_back({.severity = Severity::warning, .code = std::move(code), .object = {}, .message = std::move(what)});
  };
  // Both are about rules.
  const bool tells_rules = story.view.shows("rule");
  for (const plan::Clash& clash : plan.clashes) {
    if (!tells_rules) break;
    warn("IPR0105", fmt::format("{} rule {} stands beside {}", net::text(clash.desired.family),
                                state::text(clash.desired), state::text(clash.foreign)));
  }
  for (const plan::Refusal& refusal : plan.refused) {
    if (!tells_rules) break;
    warn("", fmt::format("{} rule {}: {}", net::text(refusal.desired.family), state::text(refusal.desired),
                         refusal.reason.message()));
  }
  for (const plan::Obstacle& obstacle : plan.obstacles) {
    warn("", fmt::format("{}: {}", obstacle.desired, obstacle.reason));
  }
  for (const std::string& skipped : story.skipped) warn("", skipped);
  if (story.own) {
    for (const std::string& line : lines_about_node(plan, *story.own)) {
      warn("IPR0501", fmt::format("{} may be met by packets that a node itself sends", line));
    }
  }
  out.insert(out.end(), story.findings.begin(), story.findings.end());
  return out;
}

std::vector<PlanLine> lines_to_tell(const plan::Plan& plan, const DiffView& view) {
  auto out = lines_of(plan);
  std::erase_if(out, [&](const PlanLine& line) { return !view.shows(class_of(line)); });
  return out;
}

bool tells_foreign(const PlanStory& story) {
  return story.view.foreign && story.view.shows("rule");
}

std::string_view code_of(const agent::ForeignRule& rule) {
  return rule.beside_ours ? "IPR0105" : "";
}

PlanSum sum_of(const std::vector<PlanLine>& lines, const std::vector<Finding>& warnings) {
  PlanSum out;
  for (const PlanLine& line : lines) ++(line.sign == '+' ? out.added : line.sign == '-' ? out.removed : out.changed);
  out.warnings = static_cast<std::size_t>(
      std::ranges::count_if(warnings, [](const Finding& one) { return one.severity >= Severity::warning; }));
  return out;
}

// Said only where it was checked and holds.
bool spares_nodes(const plan::Plan& plan, const PlanStory& story) {
  return story.own && !plan.empty() && lines_about_node(plan, *story.own).empty();
}

std::string document(const PlanStory& story, const std::vector<PlanLine>& lines, const std::vector<Finding>& warnings,
                     bool spared) {
  const PlanSum sum = sum_of(lines, warnings);
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", story.kind);
    out.array("operations", [&](json::Array& list) {
      for (const PlanLine& line : lines) list.object([&](json::Object& item) { put(item, line); });
    });
    out.put_unless_empty("notSeenWhole", story.doubt);
    out.array("warnings", [&](json::Array& list) {
      for (const Finding& warning : warnings) list.object([&](json::Object& item) { put(item, warning); });
    });
    if (tells_foreign(story)) {
      out.array("foreign", [&](json::Array& list) {
        for (const agent::ForeignRule& rule : story.foreign) {
          list.object([&](json::Object& item) {
            item.put("what", rule.what);
            item.put("class", "rule");
            item.put_unless_empty("code", code_of(rule));
          });
        }
      });
    }
    if (story.own) out.put("nodesSpared", spared);
    if (!story.unknown.empty()) {
      out.array("unknown", [&](json::Array& list) {
        for (const std::string& one : story.unknown) list.put(one);
      });
    }
    out.object("sum", [&](json::Object& of) {
      of.put("add", sum.added);
      of.put("change", sum.changed);
      of.put("delete", sum.removed);
      of.put("warnings", sum.warnings);
    });
  });
}

}  // namespace

std::string text(const PlanSum& sum) {
  return fmt::format("{} to add, {} to change, {} to delete", sum.added, sum.changed, sum.removed);
}

std::string warnings_text(std::size_t warnings) {
  return warnings == 0 ? "" : fmt::format("; {} warning{}", warnings, warnings == 1 ? "" : "s");
}

base::Result<PlanSum> sum_in(std::string_view document) {
  json::Reader reader;
  const auto root = TRY(reader.parse(document));
  const json::Value sum = root["sum"];
  PlanSum out;
  out.added = TRY(sum["add"].integer<std::size_t>());
  out.changed = TRY(sum["change"].integer<std::size_t>());
  out.removed = TRY(sum["delete"].integer<std::size_t>());
  out.warnings = TRY(sum["warnings"].integer<std::size_t>());
  return out;
}

void put(Page& page, const Finding& finding) {
  page.put("  ")
      .put(finding.severity == Severity::info ? "i" : "!", tone_of(finding.severity))
      .put(fmt::format(" {}{}{}{}", finding.object, finding.object.empty() ? "" : ": ", finding.message,
                       finding.code.empty() ? "" : "  " + finding.code))
      .end_line();
}

void put(json::Object& out, const Finding& finding) {
  out.put_unless_empty("code", finding.code);
  out.put("severity", text(finding.severity));
  out.put_unless_empty("object", finding.object);
  out.put("what", finding.message);
}

Answer show_plan(const plan::Plan& plan, const PlanStory& story) {
  Answer answer;
  const auto lines = lines_to_tell(plan, story.view);
  if (!story.title.empty()) answer.page.line("{}", story.title);
  for (const PlanLine& line : lines) {
    answer.page.put("  ").put(std::string(1, line.sign), tone_of(line.sign)).put(" " + line.text).end_line();
  }
  const auto warnings = warnings_of(plan, story);
  for (const Finding& warning : warnings) put(answer.page, warning);
  if (tells_foreign(story)) {
    for (const agent::ForeignRule& rule : story.foreign) {
      answer.page.put("  foreign, left alone: " + rule.what, rule.beside_ours ? Tone::warning : Tone::plain)
          .put(rule.beside_ours ? fmt::format("  {}", code_of(rule)) : "")
          .end_line();
    }
  }
  for (const std::string& one : story.unknown) answer.page.put("  ").put("?", Tone::faint).put(" " + one).end_line();
  const bool spared = spares_nodes(plan, story);
  if (spared) {
    answer.page.line(
        "  protected  API server, node addresses, gateways, DNS: no line is about what a node sends there");
  }
  if (story.with_sum) {
    const PlanSum sum = sum_of(lines, warnings);
    answer.page.line("{}: {}{}", story.kind, text(sum), warnings_text(sum.warnings));
  }
  const bool wrong = std::ranges::find(warnings, Severity::error, &Finding::severity) != warnings.end();
  if (!lines.empty() || wrong) answer.code = ExitCode::attention;
  if (!story.doubt.empty()) {
    answer.page.put("Not seen whole: ", Tone::warning).put(story.doubt + "; there may be more").end_line();
    answer.code = ExitCode::could_not_ask;
  }
  answer.json = document(story, lines, warnings, spared);
  return answer;
}

}  // namespace cli
