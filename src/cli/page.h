#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal.h"

namespace cli {

// `text` without anything that a terminal would obey or that could fake another line: control characters, bidirectional
// overrides and bytes that are no UTF-8 become \x1b, \u202e and the like.
std::string printable(std::string_view text);

// How many columns it takes, near enough: one for each character.
std::size_t columns(std::string_view text);

enum class Tone { plain, good, warning, bad, strong, faint };

// The text of an answer for people. Whatever is put in is made printable, so names and messages of objects, which
// anybody may have written, cannot reach the terminal raw; only the page itself makes lines and colours.
class Page {
 public:
  struct Piece {
    std::string text;
    Tone tone = Tone::plain;
  };

  Page& put(std::string_view text, Tone tone = Tone::plain);
  Page& end_line();
  // One line, formatted.
  template <typename... Args>
  Page& line(fmt::format_string<Args...> format, Args&&... args) {
    return put(fmt::format(format, std::forward<Args>(args)...)).end_line();
  }
  // Text of our own that has lines already, as a page of the documentation.
  Page& paragraphs(std::string_view text);
  Page& append(const Page& other);

  bool empty() const { return pieces_.empty(); }
  const std::vector<Piece>& pieces() const { return pieces_; }  // The end of a line is one of its own.
  std::string render(const Terminal& terminal) const;

 private:
  std::vector<Piece> pieces_;
};

// Cells below each other: every column as wide as its widest cell, two blanks between, none at the end of a line.
class Table {
 public:
  struct Cell {
    std::string text;
    Tone tone = Tone::plain;

    Cell(const std::string& content,
         Tone how = Tone::plain)  // NOLINT(google-explicit-constructor): rows are lists of text.
        : text(printable(content)), tone(how) {}
    Cell(const char* content) : Cell(std::string(content)) {}  // NOLINT(google-explicit-constructor)
  };

  explicit Table(std::size_t indent = 0) : indent_(indent) {}
  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  void print(Page& page) const;

 private:
  std::size_t indent_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace cli
