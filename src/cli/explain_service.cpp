#include "cli/explain_service.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "base/nearest_word.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/desired.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::array<std::string_view, 3> kServiceWords = {"svc/", "service/", "services/"};
constexpr std::string_view kVip = "vip/";

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

std::string list_text(const std::vector<net::Address>& addresses) {
  std::string out;
  for (const net::Address& address : addresses) out += (out.empty() ? "" : ", ") + address.text();
  return out.empty() ? "none" : out;
}

base::Result<const api::Service*> find_service(const ClusterObjects& objects, std::string_view what,
                                               const std::string& ns) {
  const auto& services = objects.wanted.services;
  if (what.starts_with(kVip)) {
    const auto vip = TRY(base::within("vip", net::Address::parse(what.substr(kVip.size()))));
    const auto has_it = [&](const api::Service& one) { return std::ranges::find(one.vips, vip) != one.vips.end(); };
    const auto found = std::ranges::find_if(services, has_it);
    if (found != services.end()) return &*found;
    return base::fail(base::Fault::invalid, fmt::format("no Service has the load balancer address {}", vip.text()));
  }
  const std::string name(what.substr(what.find('/') + 1));
  std::vector<std::string> others;
  for (const api::Service& one : services) {
    if (one.meta.name == name && one.meta.ns == ns) return &one;
    if (one.meta.ns == ns) others.push_back(one.meta.name);
  }
  const std::string nearest = base::nearest_word(name, others);
  return base::fail(
      base::Fault::invalid,
      fmt::format("there is no Service \"{}\" in name space {}{}", name, ns,
                  nearest.empty() ? "; -n names another" : fmt::format("; did you mean \"{}\"?", nearest)));
}

// What was published for one thing that is desired, and how far nodes have come with it.
struct Publication {
  const api::IPRuleConfig* config = nullptr;
  std::size_t reported = 0;
  std::size_t nodes = 0;
};

Publication publication_of(const ClusterObjects& objects, const api::IPRuleConfig* config) {
  Publication out{.config = config};
  if (config == nullptr) return out;
  for (const api::NodeState& report : objects.reports) {
    ++out.nodes;
    for (const auto& settled : report.status.settled) {
      const bool reached = settled.kind == api::IPRuleConfig::kKind && report.status.token == report.spec.token &&
                           static_cast<std::uint64_t>(settled.epoch) >= api::epoch(*out.config);
      const bool failed = std::ranges::any_of(
          settled.failed, [&](const api::NodeState::Failed& one) { return one.uid == out.config->meta.uid; });
      if (reached && !failed) ++out.reported;
    }
  }
  return out;
}

// One steering of the Service: who asks for it, what it says, what became of it.
struct Steering {
  const intent::DesiredConfig* desired = nullptr;
  const api::IPRule* rule = nullptr;
  Publication publication;
  const meta::Condition* effective = nullptr;  // What the controller makes of the nodes' facts; none yet.
};

bool is_well(const Steering& steering) {
  return steering.publication.config != nullptr && steering.publication.reported == steering.publication.nodes &&
         (steering.effective == nullptr || steering.effective->status != meta::Truth::no);
}

std::vector<Steering> steerings_of(const ClusterObjects& objects, const intent::Desired& desired,
                                   const api::Service& service) {
  const auto configs = pointers(objects.configs);
  const auto published = intent::find_published(configs, desired, default_priority(objects));
  std::vector<Steering> out;
  for (std::size_t i = 0; i < desired.configs.size(); ++i) {
    const intent::DesiredConfig& config = desired.configs[i];
    if (std::ranges::find(config.services, &service) == config.services.end()) continue;
    const bool present = published[i] != nullptr && published[i]->spec.state == api::ConfigState::present;
    const api::IPRule* rule = config.owners.front();
    out.push_back({.desired = &config,
                   .rule = rule,
                   .publication = publication_of(objects, present ? published[i] : nullptr),
                   .effective = meta::find(rule->status.conditions, "Effective")});
  }
  return out;
}

void show(Page& page, const Steering& steering) {
  const intent::Tuple& tuple = steering.desired->tuple;
  page.line("IPRule/{}  has {}: source {} {}, {}, priority {}", steering.rule->meta.name,
            list_text(steering.desired->vips), api::text(tuple.mode), tuple.source.text(),
            tuple.vrf.empty() ? fmt::format("table {}", tuple.table) : "vrf " + tuple.vrf, tuple.priority);
  const Publication& published = steering.publication;
  if (published.config == nullptr) {
    page.put("  ").put("not published yet", Tone::warning).put(": is a controller running?").end_line();
  } else {
    const bool all = published.reported == published.nodes;
    page.put(fmt::format("  IPRuleConfig/{}  ", published.config->meta.name))
        .put(fmt::format("applied on {}/{} nodes", published.reported, published.nodes),
             all ? Tone::good : Tone::warning)
        .end_line();
  }
  if (steering.effective == nullptr) return;
  const bool bad = steering.effective->status == meta::Truth::no;
  page.put("  packets    ")
      .put(bad                                              ? "CANNOT MEET IT"
           : steering.effective->status == meta::Truth::yes ? "can meet it"
                                                            : "nobody knows",
           bad ? Tone::bad : Tone::plain)
      .put(fmt::format("  {}: {}", steering.effective->reason, steering.effective->message))
      .end_line();
}

}  // namespace

bool names_service(std::string_view what) {
  return what.starts_with(kVip) ||
         std::ranges::any_of(kServiceWords, [&](auto word) { return what.starts_with(word); });
}

base::Result<Answer> explain_service(const ClusterObjects& objects, std::string_view what, const std::string& ns) {
  const api::Service& service = *TRY(find_service(objects, what, ns));
  const auto rules = pointers(objects.wanted.rules);
  const auto services = pointers(objects.wanted.services);
  const auto nodes = pointers(objects.wanted.nodes);
  const auto slices = pointers(objects.wanted.slices);
  const auto desired = intent::desired_configs({.rules = rules,
                                                .services = services,
                                                .nodes = nodes,
                                                .slices = slices,
                                                .default_priority = default_priority(objects)});
  const auto steerings = steerings_of(objects, desired, service);

  Answer answer;
  answer.page.line("Service {}/{}  load balancer {}, ClusterIP {}", service.meta.ns, service.meta.name,
                   list_text(service.vips), list_text(service.cluster_ips));
  for (const intent::ServiceFinding& finding : desired.findings) {
    if (finding.service == &service) answer.page.put("  ").put(finding.message, Tone::warning).end_line();
  }
  for (const Steering& steering : steerings) show(answer.page, steering);
  const bool well = std::ranges::all_of(steerings, is_well);
  if (steerings.empty()) {
    answer.page.line("Verdict  nothing steers it: no IPRule has a prefix with one of its addresses");
  } else if (well) {
    answer.page.put("Verdict  ").put("steered as wanted", Tone::good).put(", as far as reports tell").end_line();
  } else {
    answer.page.put("Verdict  ").put("NOT STEERED AS WANTED", Tone::bad).put("  Next: iprulectl doctor").end_line();
  }
  answer.code = !objects.gaps.empty()        ? ExitCode::could_not_ask
                : well && !steerings.empty() ? ExitCode::fine
                                             : ExitCode::attention;
  for (const std::string& gap : objects.gaps) answer.page.put("Not asked: ", Tone::warning).put(gap).end_line();
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "ServiceExplanation");
    out.put("service", fmt::format("{}/{}", service.meta.ns, service.meta.name));
    out.put("steeredAsWanted", well && !steerings.empty());
    out.array("steerings", [&](json::Array& list) {
      for (const Steering& steering : steerings) {
        list.object([&](json::Object& item) {
          item.put("ipRule", steering.rule->meta.name);
          item.put("sourceMode", api::text(steering.desired->tuple.mode));
          item.put("source", steering.desired->tuple.source.text());
          item.put("table", steering.desired->tuple.table);
          item.put("priority", steering.desired->tuple.priority);
          if (steering.publication.config != nullptr) item.put("config", steering.publication.config->meta.name);
          item.put("appliedNodes", steering.publication.reported);
          item.put("nodes", steering.publication.nodes);
          if (steering.effective != nullptr) item.put("effective", steering.effective->reason);
        });
      }
    });
  });
  return answer;
}

}  // namespace cli
