#include "cli/answer_document.h"

#include <algorithm>
#include <array>

#include "api/kinds.h"
#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::array<std::string_view, 6> kTones = {"plain", "good", "warning", "bad", "strong", "faint"};

Tone tone_of(std::string_view word) {
  const auto* const known = std::ranges::find(kTones, word);
  return known != kTones.end() ? static_cast<Tone>(known - kTones.begin()) : Tone::plain;
}

// Those that mean something on their own; how a command line was typed is the asker's business.
base::Result<ExitCode> exit_code_from(const json::Value& value) {
  const auto number = TRY(value.integer_between(0, static_cast<int>(ExitCode::waited_in_vain)));
  return static_cast<ExitCode>(number);
}

}  // namespace

std::string encode(const Answer& answer) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "HostAnswer");
    out.put("code", static_cast<int>(answer.code));
    out.array("page", [&](json::Array& page) {
      for (const Page::Piece& piece : answer.page.pieces()) {
        page.object([&](json::Object& item) {
          item.put("text", piece.text);
          if (piece.tone != Tone::plain) item.put("tone", kTones[static_cast<std::size_t>(piece.tone)]);
        });
      }
    });
    out.put_json("document", answer.json);
  });
}

base::Result<Answer> decode_answer(std::string_view text) {
  json::Reader reader;
  const auto root = TRY(reader.parse(text));
  Answer out{.page = {}, .json = root["document"].text(), .code = TRY(exit_code_from(root["code"]))};
  const auto pieces = TRY(root["page"].items());
  for (const json::Value& piece : pieces) {
    const auto words = TRY(piece["text"].string());
    if (words == "\n") {
      out.page.end_line();
    } else {
      out.page.put(words, tone_of(TRY(piece["tone"].string_or(""))));
    }
  }
  return out;
}

}  // namespace cli
