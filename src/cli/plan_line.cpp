#include "cli/plan_line.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace cli {
namespace {

std::optional<state::Rule> rule_of(const plan::Op& op) {
  if (const auto* add = std::get_if<plan::AddRule>(&op)) return add->rule;
  if (const auto* remove = std::get_if<plan::RemoveRule>(&op)) return remove->rule;
  return std::nullopt;
}

// An operation's text begins with what is done; of a change to the nft table each line does.
void add_lines(const plan::Op& op, std::vector<PlanLine>& out) {
  constexpr std::array<std::pair<std::string_view, char>, 7> kSigns = {{{"add ", '+'},
                                                                        {"create ", '+'},
                                                                        {"put ", '+'},
                                                                        {"remove ", '-'},
                                                                        {"delete ", '-'},
                                                                        {"set ", '~'},
                                                                        {"replace ", '~'}}};
  const std::string whole = plan::text(op);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    PlanLine line{.sign = '~', .text = std::string(text), .rule = rule_of(op)};
    for (const auto& [verb, sign] : kSigns) {
      if (!text.starts_with(verb)) continue;
      line.sign = sign;
      line.text = text.substr(verb.size());
    }
    out.push_back(std::move(line));
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    out.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return out;
}

bool is_nft(const std::vector<std::string_view>& words) {
  constexpr std::array<std::string_view, 3> kNft = {"table", "chain", "element"};
  return !words.empty() && std::ranges::find(kNft, words[0]) != kNft.end();
}

void put_rule(json::Object& out, const state::Rule& rule) {
  out.put("family", net::text(rule.family));
  out.put("priority", rule.priority);
  out.put("table", rule.table);
  if (rule.selector.from) out.put("from", rule.selector.from->text());
  if (rule.selector.mark)
    out.put("mark", fmt::format("{:#x}/{:#x}", rule.selector.mark->value, rule.selector.mark->mask));
  out.put("protocol", rule.protocol);
}

// "element vip4 203.0.113.45 : goto reply01", "chain reply01 mark 0x100/0x3f00", "table inet iprule"
void put_nft(json::Object& out, const std::vector<std::string_view>& words) {
  out.put("object", words[0]);
  if (words[0] == "element" && words.size() > 2) {
    out.put("map", words[1]);
    out.put("key", words[2]);
    if (words.size() > 5) out.put("chain", words[5]);
  } else if (words[0] == "chain" && words.size() > 3) {
    out.put("chain", words[1]);
    out.put("mark", words[3]);
  }
}

}  // namespace

std::vector<PlanLine> lines_of(const plan::Plan& plan) {
  std::vector<PlanLine> out;
  for (const plan::Op& op : plan.ops) add_lines(op, out);
  return out;
}

std::string class_of(const PlanLine& line) {
  if (line.rule) return "rule";
  const auto words = words_of(line.text);
  if (is_nft(words)) return "nft";
  // "IPv4 route default ...", "link eth1 ..."
  const std::size_t at = !words.empty() && words[0].starts_with("IPv") ? 1 : 0;
  return words.size() > at ? std::string(words[at]) : "";
}

void put(json::Object& out, const PlanLine& line) {
  out.put("do", line.sign == '+' ? "add" : line.sign == '-' ? "delete" : "change");
  out.put("what", line.text);
  const auto words = words_of(line.text);
  const bool has_family = !line.rule && !words.empty() && words[0].starts_with("IPv");
  if (has_family) out.put("family", words[0]);
  out.put_unless_empty("class", class_of(line));
  if (line.rule) return put_rule(out, *line.rule);
  if (is_nft(words)) put_nft(out, words);
}

}  // namespace cli
