#include "cli/analyze.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/counted.h"
#include "cli/findings.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {
namespace {

// "iprule/public-eu", as kubectl names it.
std::string name_of(const Finding& finding) {
  std::string out = finding.object;
  const auto kind = std::min(out.find('/'), out.size());
  std::transform(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kind), out.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return out;
}

Listing listing_of(const std::vector<Finding>& findings) {
  Listing out({{"SEVERITY"}, {"CODE"}, {"OBJECT"}, {"WHAT"}, {"NODES", true}});
  for (const Finding& finding : findings) {
    out.row({.name = name_of(finding),
             .cells = {{std::string(text(finding.severity)), tone_of(finding.severity)},
                       finding.code,
                       finding.object,
                       finding.message,
                       finding.nodes.empty() ? "-" : fmt::format("{}", fmt::join(finding.nodes, ","))},
             .json = json::object([&](json::Object& item) {
               item.put("severity", text(finding.severity));
               item.put("code", finding.code);
               item.put("object", finding.object);
               item.put("message", finding.message);
               if (finding.nodes.empty()) return;
               item.array("nodes", [&](json::Array& nodes) {
                 for (const std::string& node : finding.nodes) nodes.put(node);
               });
             })});
  }
  return out;
}

void add_sum(Page& page, const std::vector<Finding>& findings, std::size_t objects) {
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
  };
  page.line("{}, {}, {} info in {}.{}", counted(count(Severity::error), "error"),
            counted(count(Severity::warning), "warning"), count(Severity::info), counted(objects, "object"),
            findings.empty() ? "" : "  Meaning and cure: iprulectl explain " + findings.front().code);
}

base::Result<Answer> show_findings(const std::vector<Finding>& findings, std::size_t objects,
                                   const AnalyzeOptions& options, const std::vector<std::string>& gaps) {
  Listing listing = listing_of(findings);
  if (!options.style.sort_by.empty()) TRY(listing.sort(options.style.sort_by));
  Answer answer;
  listing.print(answer.page, {.wide = options.style.wide, .headers = false});  // A row explains itself.
  if (options.style.headers) add_sum(answer.page, findings, objects);
  const auto counts = [&](const Finding& finding) { return finding.severity >= options.fail_on; };
  if (std::ranges::any_of(findings, counts)) answer.code = ExitCode::attention;
  answer.names = listing.names();
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Findings");
    out.put("objects", objects);
    out.array("findings", [&](json::Array& list) { listing.put(list); });
    put_gaps(out, gaps);
  });
  add_gaps(answer, gaps);
  return answer;
}

}  // namespace

base::Result<Answer> analyze(const ClusterObjects& objects, const AnalyzeOptions& options) {
  const agent::Manifests& wanted = objects.wanted;
  auto findings = findings_in(wanted, sights_in(objects));
  std::erase_if(findings, [&](const Finding& finding) { return options.ignored.contains(finding.code); });
  return show_findings(findings, wanted.rules.size() + wanted.services.size() + wanted.agents.size(), options,
                       objects.gaps);
}

}  // namespace cli
