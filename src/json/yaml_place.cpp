#include <charconv>
#include <utility>

#include <libfyaml.h>

#include "json/yaml.h"
#include "json/yaml_stream.h"

namespace json {
namespace {

std::optional<Place> start_of(fy_node* scalar) {
  fy_token* token = scalar != nullptr ? fy_node_get_scalar_token(scalar) : nullptr;
  const fy_mark* mark = token != nullptr ? fy_token_start_mark(token) : nullptr;
  if (mark == nullptr) return std::nullopt;
  return Place{.line = mark->line + 1, .column = mark->column + 1};
}

// Only plain values have a place of their own in the library's tree: others stand where the first of those in them
// does.
std::optional<Place> place_of(fy_node* node) {
  if (node == nullptr || fy_node_is_alias(node)) return std::nullopt;
  if (fy_node_is_scalar(node)) return start_of(node);
  if (fy_node_is_sequence(node)) return place_of(fy_node_sequence_get_by_index(node, 0));
  fy_node_pair* pair = fy_node_mapping_get_by_index(node, 0);
  return pair != nullptr ? place_of(fy_node_pair_key(pair)) : std::nullopt;
}

// Takes the first step off a path: the key or, in brackets, the index or the quoted key.
struct Step {
  std::string key;
  std::optional<int> index;
};
Step next_step(std::string_view& path) {
  Step step;
  if (path.starts_with('.')) path.remove_prefix(1);
  if (!path.starts_with('[')) {
    step.key = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(step.key.size());
    return step;
  }
  const bool quoted = path.starts_with("[\"");
  const auto end = path.find(quoted ? "\"]" : "]");
  const std::size_t start = quoted ? 2 : 1;
  step.key = path.substr(start, end == std::string_view::npos ? end : end - start);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + start);
  int index = 0;
  if (!quoted && std::from_chars(step.key.data(), step.key.data() + step.key.size(), index).ec == std::errc()) {
    step.index = index;
  }
  return step;
}

fy_node_pair* find_pair(fy_node* mapping, std::string_view key) {
  void* cursor = nullptr;
  while (fy_node_pair* pair = fy_node_mapping_iterate(mapping, &cursor)) {
    if (scalar_text(fy_node_pair_key(pair)) == key) return pair;
  }
  return nullptr;
}

std::optional<Place> find(fy_node* node, std::string_view path) {
  std::optional<Place> place = place_of(node);
  while (!path.empty() && node != nullptr) {
    const Step step = next_step(path);
    if (step.index && fy_node_is_sequence(node)) {
      node = fy_node_sequence_get_by_index(node, *step.index);
      if (const auto here = place_of(node)) place = here;
      continue;
    }
    fy_node_pair* pair = fy_node_is_mapping(node) ? find_pair(node, step.key) : nullptr;
    if (pair == nullptr) return place;
    node = fy_node_pair_value(pair);
    const bool plain = node != nullptr && fy_node_is_scalar(node) && !fy_node_is_alias(node);
    if (const auto here = plain ? start_of(node) : place_of(fy_node_pair_key(pair))) place = here;
  }
  return place;
}

bool is_null(fy_node* root) {
  if (root == nullptr) return true;
  const std::string_view text = scalar_text(root);
  return fy_node_is_scalar(root) && (text.empty() || text == "~" || text == "null");
}

}  // namespace

std::optional<Place> locate(std::string_view text, std::size_t document, std::string_view path) {
  auto stream = YamlStream::open(text);
  if (!stream) return std::nullopt;
  while (const YamlDocument next = stream->next()) {
    fy_node* root = fy_document_root(next.get());
    if (is_null(root)) continue;  // As from_yaml() leaves it out.
    if (document-- == 0) return find(root, path);
  }
  return std::nullopt;
}

}  // namespace json
