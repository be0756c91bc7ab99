#include "cli/plan_page.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "json/writer.h"

namespace cli {
namespace {

struct Line {
  char sign = '~';
  std::string text;
};

// An operation's text begins with what is done; of a change to the nft table each line does.
std::vector<Line> lines_of(const plan::Op& op) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kSigns = {
      {{"add ", '+'}, {"create ", '+'}, {"put ", '+'}, {"remove ", '-'}, {"delete ", '-'}, {"set ", '~'}}};
  std::vector<Line> out;
  const std::string whole = plan::text(op);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    Line line{.sign = '~', .text = std::string(text)};
    for (const auto& [verb, sign] : kSigns) {
      if (text.starts_with(verb)) line = {.sign = sign, .text = std::string(text.substr(verb.size()))};
    }
    out.push_back(std::move(line));
  }
  return out;
}

Tone tone_of(char sign) {
  return sign == '+' ? Tone::good : sign == '-' ? Tone::bad : Tone::warning;
}

// What somebody should know besides the lines: "IPR0105", "what".
std::vector<std::pair<std::string, std::string>> warnings_of(const plan::Plan& plan, const PlanStory& story) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const plan::Clash& clash : plan.clashes) {
    out.emplace_back("IPR0105", fmt::format("{} rule {} stands beside {}", net::text(clash.desired.family),
                                            state::text(clash.desired), state::text(clash.foreign)));
  }
  for (const plan::Refusal& refusal : plan.refused) {
    out.emplace_back("", fmt::format("{} rule {}: {}", net::text(refusal.desired.family), state::text(refusal.desired),
                                     refusal.reason.message()));
  }
  for (const plan::Obstacle& obstacle : plan.obstacles) {
    out.emplace_back("", fmt::format("{}: {}", obstacle.desired, obstacle.reason));
  }
  for (const std::string& skipped : story.skipped) out.emplace_back("", skipped);
  return out;
}

}  // namespace

Answer show_plan(const plan::Plan& plan, const PlanStory& story) {
  Answer answer;
  std::size_t added = 0;
  std::size_t changed = 0;
  std::size_t removed = 0;
  std::vector<Line> lines;
  for (const plan::Op& op : plan.ops) {
    for (Line& line : lines_of(op)) lines.push_back(std::move(line));
  }
  if (!story.title.empty()) answer.page.line("{}", story.title);
  for (const Line& line : lines) {
    ++(line.sign == '+' ? added : line.sign == '-' ? removed : changed);
    answer.page.put("  ").put(std::string(1, line.sign), tone_of(line.sign)).put(" " + line.text).end_line();
  }
  const auto warnings = warnings_of(plan, story);
  for (const auto& [code, text] : warnings) {
    answer.page.put("  ").put("!", Tone::warning).put(" " + text + (code.empty() ? "" : "  " + code)).end_line();
  }
  answer.page.line(
      "{}: {} to add, {} to change, {} to delete{}", story.kind, added, changed, removed,
      warnings.empty() ? "" : fmt::format("; {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s"));
  if (!plan.empty()) answer.code = ExitCode::attention;
  if (!story.doubt.empty()) {
    answer.page.put("Not seen whole: ", Tone::warning).put(story.doubt + "; there may be more").end_line();
    answer.code = ExitCode::could_not_ask;
  }
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", story.kind);
    out.array("operations", [&](json::Array& list) {
      for (const Line& line : lines) {
        list.object([&](json::Object& item) {
          item.put("do", line.sign == '+' ? "add" : line.sign == '-' ? "delete" : "change");
          item.put("what", line.text);
        });
      }
    });
    out.put_unless_empty("notSeenWhole", story.doubt);
    out.array("warnings", [&](json::Array& list) {
      for (const auto& [code, text] : warnings) {
        list.object([&](json::Object& item) {
          item.put_unless_empty("code", code);
          item.put("what", text);
        });
      }
    });
  });
  return answer;
}

}  // namespace cli
