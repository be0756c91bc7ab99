#include "controller/rollout_causes.h"

#include <fmt/format.h>

#include "api/pod_trouble.h"
#include "intent/cluster/agent_template.h"

namespace controller {
namespace {

const kube::Resource kAccounts{.group = "", .version = "v1", .plural = "serviceaccounts"};
const kube::Resource kEvents{.group = "", .version = "v1", .plural = "events"};
const kube::Resource kPods{.group = "", .version = "v1", .plural = "pods"};
constexpr unsigned kSample = 100;  // A few pods tell what is wrong with all of them.

kube::Result<std::string> list(kube::Client& client, const kube::Resource& resource, kube::Selection selection,
                               const kube::Limit& limit) {
  return client.list(resource, {.selection = std::move(selection), .limit = kSample, .token = ""}, limit);
}

// Where the causes of this kind go; null where it needs nobody.
std::optional<std::string>* place_of(api::PodTrouble::Kind kind, PodCauses& causes) {
  switch (kind) {
    case api::PodTrouble::Kind::no_image:
      return &causes.image_error;
    case api::PodTrouble::Kind::crashing:
      return &causes.crashing;
    case api::PodTrouble::Kind::no_place:
      return &causes.no_place;
    case api::PodTrouble::Kind::silent_node:
      return &causes.silent_node;
    case api::PodTrouble::Kind::none:
    case api::PodTrouble::Kind::starting:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

kube::Result<bool> has_agent_account(kube::Client& client, const std::string& ns, const kube::Limit& limit) {
  const auto account = client.get(kAccounts, {.ns = ns, .name = std::string(intent::kAgentName)}, limit);
  if (account) return true;
  if (account.error().fault() == base::Fault::absent) return false;
  return std::unexpected(account.error());
}

kube::Result<std::optional<std::string>> why_pods_are_forbidden(kube::Client& client, const std::string& ns,
                                                                const std::string& set_uid, const kube::Limit& limit) {
  const auto body = TRY(list(client, kEvents,
                             {.ns = ns,
                              .label_selector = "",
                              .field_selector = fmt::format("involvedObject.kind=DaemonSet,involvedObject.name={},"
                                                            "reason=FailedCreate",
                                                            intent::kAgentName)},
                             limit));
  json::Reader reader;
  const auto events = TRY(reader.parse(body));
  return TRY(forbidden_in(events, set_uid));
}

kube::Result<PodCauses> why_pods_do_not_run(kube::Client& client, const std::string& ns, const kube::Limit& limit) {
  const auto body =
      TRY(list(client, kPods,
               {.ns = ns, .label_selector = fmt::format("app={}", intent::kAgentName), .field_selector = ""}, limit));
  json::Reader reader;
  const auto pods = TRY(reader.parse(body));
  return TRY(causes_in(pods));
}

base::Result<std::optional<std::string>> forbidden_in(const json::Value& event_list, const std::string& set_uid) {
  std::string newest;
  std::optional<std::string> out;
  const auto events = TRY(event_list["items"].items_or_none());
  for (const json::Value& event : events) {
    const auto uid = TRY(event["involvedObject"]["uid"].string_or(""));
    const auto message = TRY(event["message"].string_or(""));
    const auto time = TRY(event["lastTimestamp"].string_or(""));  // RFC 3339 in UTC: sorts as text.
    // A missing account is forbidden too, but told better by its absence; this event outlives its cause.
    const bool is_account = message.contains("error looking up service account");
    if (uid != set_uid || !message.contains("forbidden") || is_account || time < newest) continue;
    newest = time;
    out = message;
  }
  return out;
}

base::Result<PodCauses> causes_in(const json::Value& pod_list) {
  PodCauses out;
  const auto pods = TRY(pod_list["items"].items_or_none());
  for (const json::Value& pod : pods) {
    const auto trouble = TRY(api::decode_pod_trouble(pod));
    auto* place = place_of(trouble.kind, out);
    if (place == nullptr || place->has_value()) continue;
    const std::string node = TRY(api::node_of_pod(pod));
    *place = fmt::format("{}: {}", node.empty() ? "a node" : node, trouble.text);
  }
  return out;
}

}  // namespace controller
