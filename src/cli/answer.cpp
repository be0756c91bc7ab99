#include "cli/answer.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/yaml_writer.h"

namespace cli {
namespace {

// Whether a terminal would obey the character that begins here, or show what is behind it elsewhere: DEL, the controls
// above it (U+0080 to U+009F), line separators and overrides of direction.
char32_t unruly_at(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (byte(0) == 0x7f) return 0x7f;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return byte(1);
  if (byte(0) != 0xe2) return 0;
  const char32_t code = 0x2000 + ((byte(1) & 0x3fU) << 6U) + (byte(2) & 0x3fU);
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

// The same document: such characters stand in its strings alone, where they may be spelled out.
std::string spelled_out(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  while (!document.empty()) {
    const char32_t code = unruly_at(document);
    if (code == 0) {
      out += document.front();
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    }
    document.remove_prefix(code == 0 || code == 0x7f ? 1 : code < 0x800 ? 2 : 3);
  }
  return out;
}

}  // namespace

std::string render(const Answer& answer, Output output, const Terminal& terminal) {
  if (output == Output::text || output == Output::wide) return answer.page.render(terminal);
  if (output == Output::name) {
    std::string names;
    for (const std::string& name : answer.names) names += printable(name) + "\n";
    return names;
  }
  if (output == Output::json) return spelled_out(answer.json) + "\n";
  json::Reader reader;
  const auto parsed = reader.parse(answer.json);
  return spelled_out(parsed ? json::to_yaml(*parsed) : answer.json + "\n");
}

}  // namespace cli
