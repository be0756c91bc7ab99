#include "cli/version.h"

#include "api/kinds.h"
#include "base/version.h"
#include "json/writer.h"

namespace cli {

Answer show_version(std::string_view program) {
  Answer answer;
  answer.page.line("{}", base::version_text(program));
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "VersionReport");
    out.object("client", [&](json::Object& client) {
      client.put("version", base::version());
      client.put("text", base::version_text(program));
    });
  });
  return answer;
}

}  // namespace cli
