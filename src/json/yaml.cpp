#include "json/yaml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <libfyaml.h>

#include "json/writer.h"
#include "json/yaml_stream.h"

namespace json {
namespace {

constexpr std::size_t kMaxSize = 16U << 20U;
constexpr std::size_t kMaxSteps = 1'000'000;  // Nodes visited; aliases make one node count many times.
constexpr int kMaxNesting = 100;

std::unexpected<base::Error> refuse(fy_node* node, std::string_view reason) {
  fy_token* token = node != nullptr ? fy_node_get_scalar_token(node) : nullptr;
  const fy_mark* mark = token != nullptr ? fy_token_start_mark(token) : nullptr;
  if (mark == nullptr) return base::fail(base::Fault::invalid, std::string(reason));
  return base::fail(base::Fault::invalid, fmt::format("{}:{}: {}", mark->line + 1, mark->column + 1, reason));
}

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                                    "on",   "On",   "ON",   "y",   "Y"};
constexpr std::array<std::string_view, 11> kFalse = {"false", "False", "FALSE", "no", "No", "NO",
                                                     "off",   "Off",   "OFF",   "n",  "N"};

// 12, -7, 0x1f, 0o17, and 017 as YAML 1.1 has it.
std::optional<std::string> as_integer(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  for (const auto& [prefix, prefix_base] : {std::pair<std::string_view, int>{"0x", 16}, {"0o", 8}, {"0b", 2}}) {
    if (!digits.starts_with(prefix)) continue;
    base = prefix_base;
    digits.remove_prefix(2);
  }
  if (base == 10 && digits.size() > 1 && digits.front() == '0') base = 8;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (negative && number > std::uint64_t{1} << 63U) return std::nullopt;  // No integer a reader would take.
  return (negative && number != 0 ? "-" : "") + std::to_string(number);
}

std::optional<std::string> as_decimal(std::string_view text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  double number = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number)) return std::nullopt;
  return fmt::format("{}", number);
}

bool is_plain(fy_node* node) {
  std::size_t length = 0;
  const char* tag = fy_node_get_tag(node, &length);
  if (tag != nullptr && std::string_view(tag, length) == "tag:yaml.org,2002:str") return false;
  return fy_node_get_style(node) == FYNS_PLAIN || fy_node_get_style(node) == FYNS_ANY;
}

struct Pair {
  std::string_view key;
  fy_node* value;
};

// Follows aliases itself: the library's own resolving copies what they point to, so that ten lines can fill the memory.
class Converter {
 public:
  base::Status value(fy_node* node, int depth) {
    node = TRY(enter(node, depth));
    if (node == nullptr) {
      out_ += "null";
      return {};
    }
    switch (fy_node_get_type(node)) {
      case FYNT_SCALAR:
        scalar(node);
        return {};
      case FYNT_SEQUENCE:
        return sequence(node, depth);
      case FYNT_MAPPING:
        return mapping(node, depth);
    }
    return {};
  }
  std::string take() { return std::move(out_); }

 private:
  // The node an alias stands for, or the node itself.
  base::Result<fy_node*> enter(fy_node* node, int depth) {
    if (depth > kMaxNesting) return refuse(node, fmt::format("more than {} levels", kMaxNesting));
    if (++steps_ > kMaxSteps || out_.size() > kMaxSize) return refuse(node, "the document is too large");
    if (node == nullptr || !fy_node_is_alias(node)) return node;
    fy_node* target = fy_node_resolve_alias(node);
    if (target == nullptr) return refuse(node, fmt::format("nothing is named by the alias *{}", scalar_text(node)));
    return target;
  }

  void scalar(fy_node* node) {
    const std::string_view text = scalar_text(node);
    if (!is_plain(node)) return base::append_json_string(out_, text);
    if (one_of(text, kNull)) {
      out_ += "null";
    } else if (one_of(text, kTrue)) {
      out_ += "true";
    } else if (one_of(text, kFalse)) {
      out_ += "false";
    } else if (const auto integer = as_integer(text)) {
      out_ += *integer;
    } else if (const auto decimal = as_decimal(text)) {
      out_ += *decimal;
    } else {
      base::append_json_string(out_, text);
    }
  }

  base::Status sequence(fy_node* node, int depth) {
    out_ += '[';
    void* cursor = nullptr;
    bool first = true;
    while (fy_node* item = fy_node_sequence_iterate(node, &cursor)) {
      if (!std::exchange(first, false)) out_ += ',';
      TRY(value(item, depth + 1));
    }
    out_ += ']';
    return {};
  }

  base::Status mapping(fy_node* node, int depth) {
    std::vector<Pair> pairs;
    TRY(collect(node, depth, pairs));
    out_ += '{';
    bool first = true;
    for (const auto& [key, item] : pairs) {
      if (!std::exchange(first, false)) out_ += ',';
      base::append_json_string(out_, key);
      out_ += ':';
      TRY(value(item, depth + 1));
    }
    out_ += '}';
    return {};
  }

  // The mapping's own pairs, then those of its merge keys that it does not have itself.
  base::Status collect(fy_node* node, int depth, std::vector<Pair>& pairs) {
    std::vector<fy_node*> merged;
    void* cursor = nullptr;
    while (fy_node_pair* pair = fy_node_mapping_iterate(node, &cursor)) {
      fy_node* key = TRY(enter(fy_node_pair_key(pair), depth));
      fy_node* item = fy_node_pair_value(pair);
      if (key == nullptr || fy_node_get_type(key) != FYNT_SCALAR) return refuse(item, "a key must be a plain word");
      const std::string_view name = scalar_text(key);
      if (name == "<<" && is_plain(key)) {
        merged.push_back(item);
      } else if (std::ranges::find(pairs, name, &Pair::key) == pairs.end()) {
        pairs.push_back({.key = name, .value = item});
      }
    }
    for (fy_node* source : merged) TRY(merge(source, depth + 1, pairs));
    return {};
  }

  base::Status merge(fy_node* source, int depth, std::vector<Pair>& pairs) {
    fy_node* node = TRY(enter(source, depth));
    if (node != nullptr && fy_node_is_mapping(node)) return collect(node, depth, pairs);
    if (node == nullptr || !fy_node_is_sequence(node))
      return refuse(source, "<< takes a mapping or a list of mappings");
    void* cursor = nullptr;
    while (fy_node* item = fy_node_sequence_iterate(node, &cursor)) TRY(merge(item, depth + 1, pairs));
    return {};
  }

  std::string out_;
  std::size_t steps_ = 0;
};

}  // namespace

base::Result<std::vector<std::string>> from_yaml(std::string_view text) {
  auto stream = TRY(YamlStream::open(text));
  std::vector<std::string> out;
  while (const YamlDocument document = stream.next()) {
    fy_node* root = fy_document_root(document.get());
    if (root == nullptr) continue;
    Converter converter;
    TRY(converter.value(root, 1));
    std::string json = converter.take();
    if (json != "null") out.push_back(std::move(json));
  }
  TRY(stream.status());
  return out;
}

}  // namespace json
