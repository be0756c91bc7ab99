#include "cli/page.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace cli {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
};

// The character at the start of `text`; nothing where the bytes are no UTF-8 (RFC 3629: shortest form, no surrogates).
std::optional<Character> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return Character{.code = lead, .length = 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return std::nullopt;
  std::uint32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return std::nullopt;
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[length] || surrogate || code > 0x10ffff) return std::nullopt;
  return Character{.code = code, .length = length};
}

bool is_harmless(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool line = code == 0x2028 || code == 0x2029;
  const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
                         code == 0x200f || code == 0x061c;
  return !control && !line && !direction && code != 0xfeff;
}

std::string_view sequence(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "\x1b[32m";
    case Tone::warning:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::faint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    const std::size_t length = character ? character->length : 1;
    if (!character || character->code < 0x100) {
      const auto byte = static_cast<unsigned char>(text.front());
      if (character && is_harmless(character->code)) {
        out += text.substr(0, length);
      } else {
        out += fmt::format("\\x{:02x}", character ? character->code : byte);
      }
    } else if (is_harmless(character->code)) {
      out += text.substr(0, length);
    } else {
      out += fmt::format("\\u{:04x}", character->code);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

Page& Page::put(std::string_view text, Tone tone) {
  pieces_.push_back({.text = printable(text), .tone = tone});
  return *this;
}

Page& Page::end_line() {
  pieces_.push_back({.text = "\n"});
  return *this;
}

Page& Page::paragraphs(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    put(text.substr(0, end)).end_line();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return *this;
}

Page& Page::append(const Page& other) {
  pieces_.insert(pieces_.end(), other.pieces_.begin(), other.pieces_.end());
  return *this;
}

std::string Page::render(const Terminal& terminal) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    const bool coloured = terminal.colour && piece.tone != Tone::plain && !piece.text.empty();
    if (coloured) out += sequence(piece.tone);
    out += piece.text;
    if (coloured) out += "\x1b[0m";
  }
  return out;
}

void Table::print(Page& page) const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns(cells[i].text));
  }
  for (const auto& cells : rows_) {
    std::size_t gap = indent_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].text.empty()) page.put(std::string(gap, ' ')).put(cells[i].text, cells[i].tone), gap = 0;
      gap += widths[i] - columns(cells[i].text) + 2;
    }
    page.end_line();
  }
}

}  // namespace cli
