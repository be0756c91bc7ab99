#include "cli/analyze.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "intent/cluster/desired.h"
#include "json/writer.h"
#include "state/rule.h"

namespace cli {
namespace {

constexpr std::string_view kIgnore = "iprule.operator.brtrm.dev/ignore-findings";
constexpr std::uint32_t kMainPriority = 32766;

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

std::set<std::string> codes_in(std::string_view list) {
  std::set<std::string> out;
  while (!list.empty()) {
    const auto start = list.find_first_not_of(", ");
    if (start == std::string_view::npos) break;
    list.remove_prefix(start);
    const std::string_view code = list.substr(0, list.find_first_of(", "));
    out.emplace(code);
    list.remove_prefix(code.size());
  }
  return out;
}

class Analysis {
 public:
  explicit Analysis(const agent::Manifests& manifests) : manifests_(manifests) {}

  std::vector<Finding> run() {
    const auto rules = pointers(manifests_.rules);
    const auto services = pointers(manifests_.services);
    const auto desired = intent::desired_configs({.rules = rules, .services = services, .nodes = {}});
    for (const intent::RuleOutcome& outcome : desired.rules) look_at(outcome);
    for (const intent::ServiceFinding& finding : desired.findings) take(finding);
    std::ranges::sort(found_, [](const Finding& a, const Finding& b) {
      return std::tuple(-static_cast<int>(a.severity), a.code, a.object, a.message) <
             std::tuple(-static_cast<int>(b.severity), b.code, b.object, b.message);
    });
    return std::move(found_);
  }

 private:
  void look_at(const intent::RuleOutcome& outcome) {
    const api::IPRule& rule = *outcome.rule;
    const auto silenced = codes_in(rule.meta.annotations.get(kIgnore));
    const auto say = [&](Severity severity, std::string code, std::string message) {
      if (silenced.contains(code)) return;
      found_.push_back({.severity = severity,
                        .code = std::move(code),
                        .object = fmt::format("IPRule/{}", rule.meta.name),
                        .message = std::move(message)});
    };
    if (outcome.acceptance.reason != "Valid") {
      say(outcome.acceptance.accepted() ? Severity::warning : Severity::error, "IPR0201", outcome.acceptance.message);
    }
    for (const std::string& conflict : outcome.conflicts) say(Severity::error, "IPR0101", conflict);
    if (outcome.shadowed_vips > 0) {
      say(Severity::warning, "IPR0102",
          fmt::format("a longer prefix of another IPRule steers {} of its addresses", outcome.shadowed_vips));
    }
    if (outcome.acceptance.accepted() && outcome.matched_services == 0 && !manifests_.services.empty()) {
      say(Severity::info, "IPR0402", "no LoadBalancer Service has an address in its prefixes");
    }
    if (!rule.spec.node_selector_label.empty()) {
      say(Severity::info, "IPR0403", "spec.nodeSelectorLabel has no effect; use spec.nodeSelector");
    }
    if (rule.spec.priority >= kMainPriority) {
      say(Severity::warning, "IPR0404",
          fmt::format("spec.priority: {} is behind the rule for main at {}", rule.spec.priority, kMainPriority));
    }
  }

  void take(const intent::ServiceFinding& finding) {
    using Reason = intent::ServiceFinding::Reason;
    const auto [severity, code] = [&]() -> std::pair<Severity, std::string_view> {
      switch (finding.reason) {
        case Reason::no_cluster_ip:
        case Reason::family_mismatch:
          return {Severity::warning, "IPR0204"};
        case Reason::hostname_only_ingress:
          return {Severity::warning, "IPR0203"};
        case Reason::priority_conflict:
          return {Severity::error, "IPR0101"};
        case Reason::proxied_address:
          return {Severity::warning, "IPR0206"};
      }
      return {Severity::info, "IPR0204"};
    }();
    found_.push_back({.severity = severity,
                      .code = std::string(code),
                      .object = fmt::format("Service/{}", meta::full_name(finding.service->meta)),
                      .message = finding.message});
  }

  const agent::Manifests& manifests_;
  std::vector<Finding> found_;
};

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

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
        });
      }
    });
  });
  return answer;
}

}  // namespace

std::vector<Finding> findings_in(const agent::Manifests& manifests) {
  return Analysis(manifests).run();
}

Answer analyze(const agent::Manifests& manifests, const AnalyzeOptions& options) {
  auto findings = findings_in(manifests);
  std::erase_if(findings, [&](const Finding& finding) { return options.ignored.contains(finding.code); });
  return show(findings, manifests.rules.size() + manifests.services.size() + manifests.agents.size(), options.fail_on);
}

}  // namespace cli
