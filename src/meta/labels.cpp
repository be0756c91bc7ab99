#include "meta/labels.h"

#include <algorithm>

#include <fmt/format.h>

namespace meta {
namespace {

constexpr auto by_key = [](const Labels::Entry& entry) -> std::string_view { return entry.first; };

base::Result<LabelSelector::Operator> decode_operator(const json::Value& value) {
  using Operator = LabelSelector::Operator;
  const std::string_view text = TRY(value.string());
  if (text == "In") return Operator::in;
  if (text == "NotIn") return Operator::not_in;
  if (text == "Exists") return Operator::exists;
  if (text == "DoesNotExist") return Operator::does_not_exist;
  return value.fail(fmt::format("\"{}\" is none of In, NotIn, Exists, DoesNotExist", text));
}

bool matches(const LabelSelector::Expression& expression, const Labels& labels) {
  const std::string* found = labels.find(expression.key);
  const bool listed = found != nullptr && std::ranges::find(expression.values, *found) != expression.values.end();
  switch (expression.op) {
    case LabelSelector::Operator::in:
      return listed;
    case LabelSelector::Operator::not_in:
      return !listed;  // A node without the label qualifies, as in Kubernetes.
    case LabelSelector::Operator::exists:
      return found != nullptr;
    case LabelSelector::Operator::does_not_exist:
      return found == nullptr;
  }
  return false;
}

}  // namespace

Labels::Labels(std::initializer_list<Entry> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

base::Result<Labels> Labels::decode(const json::Value& value) {
  const auto members = TRY(value.members_or_none());
  Labels out;
  out.entries_.reserve(members.size());
  for (const json::Member& member : members) out.entries_.emplace_back(member.key, TRY(member.value.string()));
  std::ranges::sort(out.entries_);
  return out;
}

const std::string* Labels::find(std::string_view key) const {
  const auto at = std::ranges::lower_bound(entries_, key, {}, by_key);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

std::string_view Labels::get(std::string_view key) const {
  const std::string* found = find(key);
  return found != nullptr ? std::string_view(*found) : std::string_view();
}

void Labels::set(std::string_view key, std::string_view value) {
  const auto at = std::ranges::lower_bound(entries_, key, {}, by_key);
  if (at != entries_.end() && at->first == key) {
    at->second = value;
  } else {
    entries_.emplace(at, key, value);
  }
}

bool Labels::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == key; }) > 0;
}

std::size_t Labels::erase_prefix(std::string_view prefix) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first.starts_with(prefix); });
}

bool Labels::matches(const Labels& labels) const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    const std::string* found = labels.find(entry.first);
    return found != nullptr && *found == entry.second;
  });
}

std::string Labels::text() const {
  std::string out;
  for (const auto& [key, value] : entries_) out += fmt::format("{}{}={}", out.empty() ? "" : ",", key, value);
  return out;
}

void Labels::encode(json::Object& out) const {
  for (const auto& [key, value] : entries_) out.put(key, value);
}

base::Result<LabelSelector> LabelSelector::decode(const json::Value& value) {
  LabelSelector out;
  out.match_labels = TRY(Labels::decode(value["matchLabels"]));
  for (const json::Value& item : TRY(value["matchExpressions"].items_or_none())) {
    Expression expression{.key = std::string(TRY(item["key"].string())), .op = TRY(decode_operator(item["operator"]))};
    for (const json::Value& one : TRY(item["values"].items_or_none())) {
      expression.values.emplace_back(TRY(one.string()));
    }
    out.match_expressions.push_back(std::move(expression));
  }
  return out;
}

bool LabelSelector::matches(const Labels& labels) const {
  return match_labels.matches(labels) && std::ranges::all_of(match_expressions, [&](const Expression& expression) {
           return meta::matches(expression, labels);
         });
}

}  // namespace meta
