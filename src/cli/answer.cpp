#include "cli/answer.h"

#include "json/reader.h"
#include "json/yaml_writer.h"

namespace cli {

std::string render(const Answer& answer, Output output, const Terminal& terminal) {
  if (output == Output::text || output == Output::wide) return answer.page.render(terminal);
  if (output == Output::name) {
    std::string names;
    for (const std::string& name : answer.names) names += printable(name) + "\n";
    return names;
  }
  if (output == Output::json) return answer.json + "\n";
  json::Reader reader;
  const auto parsed = reader.parse(answer.json);
  return parsed ? json::to_yaml(*parsed) : answer.json + "\n";
}

}  // namespace cli
