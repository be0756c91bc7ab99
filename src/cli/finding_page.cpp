#include "cli/finding_page.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/nearest_word.h"
#include "json/writer.h"

namespace cli {
namespace {

struct FindingPage {
  std::string_view code;
  std::string_view text;  // Its first line is "# CODE: title".
};

constexpr FindingPage kPages[] = {
#include "cli/finding_pages.inc"
};

const FindingPage* find_page(std::string_view code) {
  const auto* const found = std::ranges::find(kPages, code, &FindingPage::code);
  return found != std::end(kPages) ? found : nullptr;
}

}  // namespace

std::vector<std::string> finding_codes() {
  std::vector<std::string> out;
  for (const FindingPage& page : kPages) out.emplace_back(page.code);
  return out;
}

std::string_view finding_title(std::string_view code) {
  const FindingPage* page = find_page(code);
  if (page == nullptr) return "";
  const std::string_view line = page->text.substr(0, page->text.find('\n'));
  return line.substr(std::min(line.size(), line.find(": ") + 2));
}

base::Result<Answer> explain_code(std::string_view code) {
  std::string wanted(code);
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return std::toupper(c); });
  const FindingPage* page = find_page(wanted);
  if (page == nullptr) {
    const std::string nearest = base::nearest_word(wanted, finding_codes());
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no code of a finding{}", code,
                                                        nearest.empty() ? "; they look like IPR0301"
                                                                        : fmt::format("; did you mean {}?", nearest)));
  }
  Answer answer;
  answer.page.paragraphs(page->text);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "FindingPage");
    out.put("code", page->code);
    out.put("title", finding_title(page->code));
    out.put("text", page->text);
  });
  return answer;
}

}  // namespace cli
