#include "cli/explain_service.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/nearest_word.h"
#include "cli/follow_replies.h"
#include "cli/gaps.h"
#include "cli/steering.h"
#include "json/writer.h"

namespace cli {
namespace {

std::string list_text(const std::vector<net::Address>& addresses) {
  std::string out;
  for (const net::Address& address : addresses) out += (out.empty() ? "" : ", ") + address.text();
  return out.empty() ? "none" : out;
}

base::Result<const api::Service*> find_by_vip(const ClusterObjects& objects, const std::string& text) {
  const auto vip = TRY(base::within("vip", net::Address::parse(text)));
  for (const api::Service& service : objects.wanted.services) {
    if (std::ranges::find(service.vips, vip) != service.vips.end()) return &service;
  }
  return base::fail(base::Fault::invalid, fmt::format("no Service has the load balancer address {}", vip.text()));
}

base::Result<const api::Service*> find_by_name(const ClusterObjects& objects, const std::string& name,
                                               const std::string& ns) {
  std::vector<std::string> others;
  for (const api::Service& one : objects.wanted.services) {
    if (one.meta.name == name && one.meta.ns == ns) return &one;
    if (one.meta.ns == ns) others.push_back(one.meta.name);
  }
  const std::string nearest = base::nearest_word(name, others);
  return base::fail(
      base::Fault::invalid,
      fmt::format("there is no Service \"{}\" in name space {}{}", name, ns,
                  nearest.empty() ? "; -n names another" : fmt::format("; did you mean \"{}\"?", nearest)));
}

void show(Page& page, const Steering& steering, const Steerings& known) {
  const intent::Tuple& tuple = steering.desired->tuple;
  page.line("IPRule/{}  has {}: source {} {}, {}, priority {}", steering.rule->meta.name,
            list_text(steering.desired->vips), api::text(tuple.mode), tuple.source.text(),
            tuple.vrf.empty() ? fmt::format("table {}", tuple.table) : "vrf " + tuple.vrf, tuple.priority);
  for (const net::Address& vip : steering.desired->vips) {
    if (const std::string match = known.match_text(*steering.rule, vip); !match.empty()) page.line("  {}", match);
  }
  if (steering.supposed) {
    page.line("  would be published for the nodes that it selects");
  } else if (steering.published == nullptr) {
    page.put("  ").put("not published yet", Tone::warning).put(": is a controller running?").end_line();
  } else {
    const bool all = steering.reported == steering.nodes;
    page.put(fmt::format("  IPRuleConfig/{}  ", steering.published->meta.name))
        .put(fmt::format("applied on {}/{} nodes", steering.reported, steering.nodes), all ? Tone::good : Tone::warning)
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

// What keeps replies from being steered, where it has a page.
std::string code_in(const std::vector<Steering>& steerings) {
  for (const Steering& steering : steerings) {
    if (steering.effective == nullptr || steering.supposed) continue;
    if (const std::string_view code = code_of(*steering.effective); !code.empty()) return std::string(code);
  }
  return "";
}

// The next command to type: where a reason is known, what it means; else whoever knows more.
std::string next_step(const std::vector<Steering>& steerings, const std::string& code) {
  if (!code.empty()) return "iprulectl explain " + code;
  const auto waits = [](const Steering& one) { return one.published == nullptr && !one.supposed; };
  return std::ranges::any_of(steerings, waits) ? "iprulectl status" : "iprulectl diff";
}

std::size_t pods_of(const ClusterObjects& objects, const api::Service& service) {
  std::set<net::Address> out;
  for (const api::EndpointSlice& slice : objects.wanted.slices) {
    if (slice.service != service.meta.name || slice.meta.ns != service.meta.ns) continue;
    for (const auto& endpoint : slice.ready) out.insert(endpoint.address);
  }
  return out.size();
}

void put_sum(Page& page, const std::vector<Steering>& steerings, const FollowedReplies& followed, bool supposed) {
  const Steered steered = sum_of(steerings);
  const std::string code = code_in(steerings);
  const std::string reason = code.empty() ? "" : "  " + code;
  if (steered == Steered::by_nothing) {
    page.line("Verdict  nothing steers it: no IPRule has a prefix with one of its addresses");
  } else if (!followed.right) {
    page.put("Verdict  ")
        .put("WRONG UPLINK", Tone::bad)
        .put((supposed ? ", once it is applied" : ", by a kernel's own word") + reason)
        .end_line();
    page.line("Next     {}", code.empty() ? "iprulectl doctor --node NODE" : "iprulectl explain " + code);
  } else if (steered == Steered::as_wanted) {
    const bool asked = !followed.json.empty() && followed.json != "[]";
    page.put("Verdict  ")
        .put("steered as wanted", Tone::good)
        .put(supposed ? ", once it is applied"
             : asked  ? ", by reports and by the kernels asked"
                      : ", as far as reports tell")
        .end_line();
  } else {
    page.put("Verdict  ").put("NOT STEERED AS WANTED", Tone::bad).put(reason).end_line();
    page.line("Next     {}", next_step(steerings, code));
  }
}

void put(json::Object& out, const Steering& steering) {
  out.put("ipRule", steering.rule->meta.name);
  out.put("sourceMode", api::text(steering.desired->tuple.mode));
  out.put("source", steering.desired->tuple.source.text());
  out.put("table", steering.desired->tuple.table);
  out.put_unless_empty("vrf", steering.desired->tuple.vrf);
  out.put("priority", steering.desired->tuple.priority);
  if (steering.published != nullptr) out.put("config", steering.published->meta.name);
  out.put("appliedNodes", steering.reported);
  out.put("nodes", steering.nodes);
  if (steering.effective != nullptr) out.put("effective", steering.effective->reason);
}

Answer explain(const ClusterObjects& objects, const Steerings& all, const api::Service& service,
               const FollowReplies& follow, const AskNode& ask) {
  const auto steerings = all.of(service);
  Answer answer;
  const std::size_t pods = pods_of(objects, service);
  answer.page.line("Service {}/{}  load balancer {}, ClusterIP {}, {} pod{}", service.meta.ns, service.meta.name,
                   list_text(service.vips), list_text(service.cluster_ips), pods, pods == 1 ? "" : "s");
  const auto warnings = all.warnings(service);
  for (const std::string& warning : warnings) answer.page.put("  ").put(warning, Tone::warning).end_line();
  for (const Steering& steering : steerings) show(answer.page, steering, all);
  FollowedReplies followed;
  if (follow.client) followed = follow_replies(objects, service, steerings, follow, ask);
  answer.page.append(followed.page);
  put_sum(answer.page, steerings, followed, objects.supposed);
  const bool well = sum_of(steerings) == Steered::as_wanted && followed.right;
  if (!well) answer.code = ExitCode::attention;
  add_gaps(answer, followed.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "ServiceExplanation");
    out.put("service", fmt::format("{}/{}", service.meta.ns, service.meta.name));
    out.put("steeredAsWanted", well);
    if (!well) out.put_unless_empty("code", code_in(steerings));
    out.put("pods", pods);
    out.put_unless_empty("supposed", objects.supposed);
    out.array("steerings", [&](json::Array& list) {
      for (const Steering& steering : steerings) list.object([&](json::Object& item) { put(item, steering); });
    });
    if (follow.client) out.put_json("replies", followed.json);
    put_gaps(out, followed.gaps);
  });
  return answer;
}

std::vector<const api::Service*> services_of(const ClusterObjects& objects, const PodPlace& pod,
                                             const std::string& ns) {
  std::vector<const api::Service*> out;
  for (const api::Service& service : objects.wanted.services) {
    const bool leads = std::ranges::any_of(objects.wanted.slices, [&](const api::EndpointSlice& slice) {
      return slice.meta.ns == ns && service.meta.ns == ns && slice.service == service.meta.name &&
             std::ranges::any_of(slice.ready, [&](const api::EndpointSlice::Endpoint& endpoint) {
               return std::ranges::find(pod.addresses, endpoint.address) != pod.addresses.end();
             });
    });
    if (leads) out.push_back(&service);
  }
  return out;
}

}  // namespace

std::optional<Subject> parse_subject(std::string_view what) {
  using enum Subject::Kind;
  constexpr std::array<std::pair<std::string_view, Subject::Kind>, 23> kWords = {{{"svc", service},
                                                                                  {"service", service},
                                                                                  {"services", service},
                                                                                  {"vip", vip},
                                                                                  {"po", pod},
                                                                                  {"pod", pod},
                                                                                  {"pods", pod},
                                                                                  {"ns", name_space},
                                                                                  {"namespace", name_space},
                                                                                  {"no", node},
                                                                                  {"node", node},
                                                                                  {"nodes", node},
                                                                                  {"ipr", rule},
                                                                                  {"iprule", rule},
                                                                                  {"iprules", rule},
                                                                                  {"iprc", config},
                                                                                  {"ipruleconfig", config},
                                                                                  {"ipruleconfigs", config},
                                                                                  {"ipra", agent},
                                                                                  {"agent", agent},
                                                                                  {"agents", agent},
                                                                                  {"iprns", node},
                                                                                  {"nodestate", node}}};
  const auto slash = what.find('/');
  if (slash + 1 == what.size()) return std::nullopt;
  for (const auto& [word, kind] : kWords) {
    if (kind == service && word == what) return Subject{.kind = services, .name = {}};
    if (slash == std::string_view::npos) continue;
    if (word == what.substr(0, slash)) return Subject{.kind = kind, .name = std::string(what.substr(slash + 1))};
  }
  return std::nullopt;
}

base::Result<Answer> explain_service(const ClusterObjects& objects, const Subject& subject, const std::string& ns,
                                     const FollowReplies& follow, const AskNode& ask) {
  const api::Service& service = *TRY(subject.kind == Subject::Kind::vip ? find_by_vip(objects, subject.name)
                                                                        : find_by_name(objects, subject.name, ns));
  Answer answer = explain(objects, Steerings(objects), service, follow, ask);
  add_gaps(answer, objects.gaps);
  return answer;
}

base::Result<Answer> explain_pod(const ClusterObjects& objects, const PodPlace& pod, const std::string& ns,
                                 FollowReplies follow, const AskNode& ask) {
  follow.pods = pod.addresses;
  const Steerings steerings(objects);
  const auto services = services_of(objects, pod, ns);
  Answer answer;
  answer.page.line("Pod {}/{}  {} on {}, answers for {} Service{}", ns, pod.name, list_text(pod.addresses),
                   pod.node.empty() ? "no node yet" : pod.node, services.size(), services.size() == 1 ? "" : "s");
  std::vector<std::string> documents;
  for (const api::Service* service : services) {
    Answer one = explain(objects, steerings, *service, follow, ask);
    answer.page.append(one.page);
    answer.code = std::max(answer.code, one.code);
    documents.push_back(std::move(one.json));
  }
  if (services.empty()) answer.page.line("Verdict  nothing steers it: no Service has it as a ready endpoint");
  add_gaps(answer, objects.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "PodExplanation");
    out.put("pod", fmt::format("{}/{}", ns, pod.name));
    out.put_unless_empty("node", pod.node);
    out.array("services", [&](json::Array& list) {
      for (const std::string& document : documents) list.put_json(document);
    });
    put_gaps(out, objects.gaps);
  });
  return answer;
}

}  // namespace cli
