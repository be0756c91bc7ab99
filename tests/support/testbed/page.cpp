#include "testbed/page.h"

#include <array>
#include <cstdlib>
#include <regex>
#include <sys/utsname.h>
#include <utility>

#include <gtest/gtest.h>

#include "base/file.h"

namespace testbed {
namespace {

std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// In words of a regular expression.
std::string this_kernel() {
  utsname names{};
  (void)::uname(&names);
  return std::regex_replace(std::string(static_cast<const char*>(names.release)), std::regex(R"([.+])"), R"(\$&)");
}

}  // namespace

Document Document::parse(std::string_view page) {
  Document out;
  out.pieces_.push_back({});
  std::string_view fence;
  while (!page.empty()) {
    const std::string_view line = take_line(page);
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
      out.pieces_.push_back({.kind = Piece::Kind::text, .head = "", .body = std::string(line) + "\n"});
    } else if (fence == "```yaml" && line.starts_with("# ") && out.pieces_.back().body == "```yaml\n") {
      out.pieces_.push_back({.kind = Piece::Kind::file, .head = std::string(line.substr(2)), .body = ""});
    } else if (fence == "```console" && line.starts_with("$ ")) {
      out.pieces_.push_back({.kind = Piece::Kind::command, .head = std::string(line.substr(2)), .body = ""});
    } else {
      out.pieces_.back().body += std::string(line) + "\n";
    }
  }
  return out;
}

std::string Document::text() const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Piece::Kind::file) out += "# " + piece.head + "\n";
    if (piece.kind == Piece::Kind::command) out += "$ " + piece.head + "\n";
    out += piece.body;
  }
  return out;
}

std::size_t try_out(const std::filesystem::path& page, const PageReader& reader) {
  const auto text = base::read_file(page);
  if (!text) {
    ADD_FAILURE() << text.error().message();
    return 0;
  }
  Document document = Document::parse(*text);
  EXPECT_EQ(document.text(), *text) << "the page is read as it is";
  std::size_t commands = 0;
  bool same = true;
  for (Document::Piece& piece : document.pieces()) {
    if (piece.kind == Document::Piece::Kind::file) reader.write(piece.head, piece.body);
    if (piece.kind != Document::Piece::Kind::command) continue;
    ++commands;
    const std::string printed = reader.type(piece.head);
    if (tells_truly(piece.body, printed)) continue;
    same = false;
    ADD_FAILURE() << page.native() << ": `" << piece.head << "` printed\n"
                  << printed << "but the page shows\n"
                  << piece.body;
    piece.body = printed;
  }
  const char* update = std::getenv("IPRULE_UPDATE_PAGES");
  if (!same && update != nullptr && std::string_view(update) == "1") {
    EXPECT_TRUE(base::write_file(page, document.text()));
  }
  return commands;
}

bool tells_truly(const std::string& shown, const std::string& printed) {
  constexpr std::string_view kGap = "...\n";
  const std::string whole = masked(printed);
  std::string rest = masked(shown);
  std::size_t from = 0;
  bool is_begun = false;  // The first piece must stand at the beginning, even if it is empty.
  for (auto gap = rest.find(kGap); gap != std::string::npos; gap = rest.find(kGap)) {
    const auto found = whole.find(rest.substr(0, gap), from);
    if (found == std::string::npos || (!is_begun && found != 0)) return false;
    is_begun = true;
    from = found + gap;
    rest.erase(0, gap + kGap.size());
  }
  return !is_begun ? whole == rest : whole.size() - from >= rest.size() && whole.ends_with(rest);
}

std::string masked(std::string text) {
  static const std::array<std::pair<std::regex, const char*>, 9> kVolatile = {{
      {std::regex(R"(\b\d+(\.\d+)? (ms|s)\b)"), "N s"},
      {std::regex(R"(\b\d+[smhd](\d+s)?\b)"), "AGE"},
      {std::regex(R"(\d{4}-\d\d-\d\dT[\d:]+Z)"), "TIME"},
      {std::regex(R"(leader \S+)"), "leader NAME"},
      {std::regex(R"(\beth1 \d{4,}\b)"), "eth1 N"},
      {std::regex(R"(kernel \d+\.\d+\S*)"), "kernel N"},
      // In a column, and that of whoever wrote the page: no version of ours is as high.
      {std::regex(this_kernel() + R"(|\b[4-9](\.\d+){2,}-\S+)"), "N"},
      {std::regex(R"(\d+ rules, (\d+) ours)"), "N rules, $1 ours"},
      {std::regex(R"( +)"), " "},
  }};
  for (const auto& [pattern, stand_in] : kVolatile) text = std::regex_replace(text, pattern, stand_in);
  return text;
}

}  // namespace testbed
