#include "cli/gaps.h"

namespace cli {

void add_gaps(Answer& answer, const std::vector<std::string>& gaps) {
  for (const std::string& gap : gaps) answer.page.put("Not asked: ", Tone::warning).put(gap).end_line();
  if (!gaps.empty()) answer.code = ExitCode::could_not_ask;
}

void put_gaps(json::Object& out, const std::vector<std::string>& gaps) {
  out.array("notAsked", [&](json::Array& list) {
    for (const std::string& gap : gaps) list.put(gap);
  });
}

}  // namespace cli
