#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/reader.h"
#include "json/writer.h"

namespace meta {

// Labels, annotations and plain selectors: a small map of strings, kept sorted in one allocation.
class Labels {
 public:
  using Entry = std::pair<std::string, std::string>;

  Labels() = default;
  Labels(std::initializer_list<Entry> entries);
  static base::Result<Labels> decode(const json::Value& value);  // Absent is empty.

  const std::string* find(std::string_view key) const;  // nullptr if there is none.
  std::string_view get(std::string_view key) const;     // "" if there is none.
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  void set(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  std::size_t erase_prefix(std::string_view prefix);  // How many went.

  // As a nodeSelector: every pair is found in `labels`; an empty selector matches everything.
  bool matches(const Labels& labels) const;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::string text() const;  // "a=b,c=d"
  void encode(json::Object& out) const;

  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Entry> entries_;
};

// A metav1.LabelSelector.
struct LabelSelector {
  enum class Operator { in, not_in, exists, does_not_exist };
  struct Expression {
    std::string key;
    Operator op = Operator::exists;
    std::vector<std::string> values;
    bool operator==(const Expression&) const = default;
  };

  Labels match_labels;
  std::vector<Expression> match_expressions;

  static base::Result<LabelSelector> decode(const json::Value& value);
  bool matches(const Labels& labels) const;  // Empty matches everything.
  bool operator==(const LabelSelector&) const = default;
};

}  // namespace meta
