#include "controller/note.h"

#include <fmt/format.h>

namespace controller {
namespace {

constexpr std::size_t kMost = 1024;  // Bytes the server takes.
constexpr std::string_view kCut = "...";

// Never in the middle of a character.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  most -= kCut.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  text += kCut;
}

}  // namespace

std::string Note::text() const {
  std::string end = next.empty() ? "" : "; " + next;
  if (!code.empty() && !said.contains(code)) end += fmt::format(" ({})", code);
  if (epoch > 0) end += fmt::format(", epoch {}", epoch);
  std::string out = said;
  if (!next.empty() && out.ends_with('.')) out.pop_back();
  cut(out, kMost - end.size());
  return out + end;
}

}  // namespace controller
