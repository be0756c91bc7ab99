#include "json/yaml_writer.h"

#include <cctype>
#include <string_view>

#include "json/writer.h"

namespace json {
namespace {

// What nobody takes for a number, a boolean or syntax.
bool is_word(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  constexpr std::string_view kMistakable[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0) return false;
  if (text.find_first_not_of(kLetters) != std::string_view::npos) return false;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : kMistakable) {
    if (lower == word) return false;
  }
  return true;
}

void append_scalar(std::string& out, std::string_view text) {
  if (is_word(text)) {
    out += text;
  } else {
    base::append_json_string(out, text);
  }
}

// `first` stands behind a "- " or a "key:" on a line that has begun already.
void append(std::string& out, const Value& value, std::size_t depth, bool first);

void append_members(std::string& out, const std::vector<Member>& members, std::size_t depth, bool first) {
  for (const Member& member : members) {
    if (!first) out.append(2 * depth, ' ');
    first = false;
    append_scalar(out, member.key);
    out += ':';
    const auto below = member.value.members();
    const auto items = member.value.items();
    const bool nested = (below && !below->empty()) || (items && !items->empty());
    out += nested ? '\n' : ' ';
    // kubectl's way: a list begins below its key's first letter.
    append(out, member.value, items ? depth : depth + 1, false);
  }
}

void append(std::string& out, const Value& value, std::size_t depth, bool first) {
  if (const auto members = value.members()) {
    if (members->empty()) {
      out += "{}\n";
      return;
    }
    append_members(out, *members, depth, first);
  } else if (const auto items = value.items()) {
    if (items->empty()) out += "[]\n";
    for (const Value& item : *items) {
      if (!first) out.append(2 * depth, ' ');
      first = false;
      out += "- ";
      append(out, item, depth + 1, true);
    }
  } else if (const auto text = value.string()) {
    append_scalar(out, *text);
    out += '\n';
  } else {
    out += value.text();
    out += '\n';
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  std::string out;
  append(out, value, 0, false);
  return out;
}

}  // namespace json
