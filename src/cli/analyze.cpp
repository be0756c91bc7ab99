#include "cli/analyze.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/counted.h"
#include "cli/findings.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {
namespace {

Answer show(const std::vector<Finding>& findings, std::size_t objects, Severity fail_on) {
  Answer answer;
  Table table;
  for (const Finding& finding : findings) {
    table.row({{std::string(text(finding.severity)), tone_of(finding.severity)},
               finding.code,
               finding.object,
               finding.message});
    if (finding.severity >= fail_on) answer.code = ExitCode::attention;
  }
  table.print(answer.page);
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
  };
  answer.page.line("{}, {}, {} info in {}.{}", counted(count(Severity::error), "error"),
                   counted(count(Severity::warning), "warning"), count(Severity::info), counted(objects, "object"),
                   findings.empty() ? "" : "  Meaning and cure: iprulectl explain " + findings.front().code);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Findings");
    out.put("objects", objects);
    out.array("findings", [&](json::Array& list) {
      for (const Finding& finding : findings) {
        list.object([&](json::Object& item) {
          item.put("severity", text(finding.severity));
          item.put("code", finding.code);
          item.put("object", finding.object);
          item.put("message", finding.message);
          if (finding.nodes.empty()) return;
          item.array("nodes", [&](json::Array& nodes) {
            for (const std::string& node : finding.nodes) nodes.put(node);
          });
        });
      }
    });
  });
  return answer;
}

}  // namespace

Answer analyze(const ClusterObjects& objects, const AnalyzeOptions& options) {
  const agent::Manifests& wanted = objects.wanted;
  auto findings = findings_in(wanted, sights_in(objects));
  std::erase_if(findings, [&](const Finding& finding) { return options.ignored.contains(finding.code); });
  Answer answer = show(findings, wanted.rules.size() + wanted.services.size() + wanted.agents.size(), options.fail_on);
  add_gaps(answer, objects.gaps);
  return answer;
}

}  // namespace cli
