#include "cli/follow_replies.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/assignment.h"
#include "json/reader.h"
#include "json/writer.h"
#include "state/rule.h"

namespace cli {
namespace {

constexpr std::size_t kNodesAsked = 5;

// Where a reply should leave; nobody steers it where there is no steering.
struct Reply {
  net::Address pod;
  std::string node;
  net::Address vip;
  const Steering* steering = nullptr;
  bool inside = false;  // Its client is in the cluster: by Reply, such are never steered.
};

const Steering* steering_of(const std::vector<Steering>& steerings, const net::Address& vip) {
  for (const Steering& steering : steerings) {
    const auto& vips = steering.desired->vips;
    if (std::ranges::find(vips, vip) != vips.end()) return &steering;
  }
  return nullptr;
}

bool is_inside(const ClusterObjects& objects, const std::string& node, const net::Address& client) {
  const auto prefixes = settings_on(objects, node).cluster_prefixes;
  return std::ranges::any_of(prefixes, [&](const net::Prefix& prefix) { return prefix.contains(client); });
}

bool among(const auto& values, const auto& value) {
  return values.empty() || std::ranges::find(values, value) != values.end();
}

std::vector<Reply> replies_of(const ClusterObjects& objects, const api::Service& service,
                              const std::vector<Steering>& steerings, const FollowReplies& follow) {
  std::map<std::string, net::Address> pods;  // By node.
  for (const api::EndpointSlice& slice : objects.wanted.slices) {
    if (slice.service != service.meta.name || slice.meta.ns != service.meta.ns) continue;
    for (const auto& endpoint : slice.ready) {
      const bool meant = endpoint.address.family() == follow.client->family() && !endpoint.node_name.empty() &&
                         among(follow.nodes, endpoint.node_name) && among(follow.pods, endpoint.address);
      if (meant) pods.try_emplace(endpoint.node_name, endpoint.address);
    }
  }
  std::vector<Reply> out;
  for (const auto& [node, pod] : pods) {
    for (const net::Address& vip : service.vips) {
      if (vip.family() != follow.client->family()) continue;
      const Steering* steering = steering_of(steerings, vip);
      const bool replies = steering != nullptr && steering->desired->tuple.mode == api::SourceMode::reply;
      out.push_back({.pod = pod,
                     .node = node,
                     .vip = vip,
                     .steering = steering,
                     .inside = replies && is_inside(objects, node, *follow.client)});
    }
  }
  return out;
}

// What a host's Explanation says of the way of a packet.
struct Way {
  std::uint32_t table = 0;
  std::uint32_t vrf_table = 0;   // Of the VRF that is wanted; 0: there is none.
  bool by_better_route = false;  // `main` has more than a default route for it, which a rule of ours lets decide.
};

base::Result<Way> way_in(const Answer& explanation, const std::string& vrf) {
  json::Reader reader;
  const auto root = TRY(reader.parse(explanation.json));
  Way out;
  out.table = TRY(root["verdict"]["table"].integer_or<std::uint32_t>(0));
  const auto vrfs = TRY(root["vrfs"].items_or_none());
  for (const json::Value& one : vrfs) {
    if (TRY(one["name"].string()) == vrf) out.vrf_table = TRY(one["table"].integer<std::uint32_t>());
  }
  const auto steps = TRY(root["steps"].items_or_none());
  if (steps.empty()) return out;
  const auto decided = TRY(steps.back()["rule"].string_or(""));
  out.by_better_route = out.table == state::kTableMain && decided.contains("suppress_prefixlength 0");
  return out;
}

enum class Judgement { not_steered, right, better_route, inside, wrong };

Judgement judge(const Reply& reply, const Way& way) {
  if (reply.steering == nullptr) return Judgement::not_steered;
  const intent::Tuple& tuple = reply.steering->desired->tuple;
  if (way.table != 0 && way.table == (tuple.vrf.empty() ? tuple.table : way.vrf_table)) return Judgement::right;
  if (tuple.prefer_main && way.by_better_route) return Judgement::better_route;
  return reply.inside && way.table == state::kTableMain ? Judgement::inside : Judgement::wrong;
}

std::string target_text(const intent::Tuple& tuple) {
  return tuple.vrf.empty() ? fmt::format("table {}", tuple.table) : "VRF " + tuple.vrf;
}

void put_judgement(Page& page, const Reply& reply, Judgement judgement) {
  page.put("Reply    ");
  switch (judgement) {
    case Judgement::not_steered:
      page.put("nothing steers it");
      break;
    case Judgement::right:
      page.put("RIGHT UPLINK", Tone::good).put(": " + target_text(reply.steering->desired->tuple));
      break;
    case Judgement::better_route:
      page.put("RIGHT", Tone::good).put(": main has a route of its own to the client, which comes first (preferMain)");
      break;
    case Judgement::inside:
      page.put("RIGHT", Tone::good).put(": the client is inside the cluster, and replies to it are not steered");
      break;
    case Judgement::wrong:
      page.put("WRONG UPLINK", Tone::bad).put(", wanted " + target_text(reply.steering->desired->tuple));
      break;
  }
  page.end_line();
}

// Asks the pod's node; what it said goes into `out` and `documents`.
void follow_one(const Reply& reply, const net::Address& client, const AskNode& ask, FollowedReplies& out,
                json::Array& documents) {
  const auto answer =
      ask(reply.node, {.about = Question::About::explain,
                       .packet = {.from = reply.pod.text(), .to = client.text(), .reply_of = reply.vip.text()}});
  const std::string vrf = reply.steering != nullptr ? reply.steering->desired->tuple.vrf : "";
  const auto way = answer ? way_in(*answer, vrf) : base::Result<Way>(std::unexpected(answer.error()));
  if (!way) {
    out.gaps.push_back(fmt::format("the kernel of {}: {}", reply.node, way.error().message()));
    return;
  }
  const Judgement judgement = judge(reply, *way);
  const bool right = judgement != Judgement::wrong;
  out.right = out.right && right;
  out.page.line("Reply of pod {} on {} to {}, of a connection to {}", reply.pod.text(), reply.node, client.text(),
                reply.vip.text());
  out.page.append(answer->page);
  put_judgement(out.page, reply, judgement);
  documents.object([&](json::Object& item) {
    item.put("node", reply.node);
    item.put("pod", reply.pod.text());
    item.put("vip", reply.vip.text());
    item.put("wantedTable", reply.steering != nullptr ? reply.steering->desired->tuple.table : 0U);
    item.put_unless_empty("wantedVRF", vrf);
    item.put("right", right);
    item.put_json("explanation", answer->json);
  });
}

}  // namespace

FollowedReplies follow_replies(const ClusterObjects& objects, const api::Service& service,
                               const std::vector<Steering>& steerings, const FollowReplies& follow,
                               const AskNode& ask) {
  FollowedReplies out;
  const auto replies = replies_of(objects, service, steerings, follow);
  if (replies.empty()) out.page.line("No pod on a node that is meant answers for it to {}", follow.client->text());
  std::set<std::string> asked;
  std::set<std::string> left;
  out.json = json::array([&](json::Array& documents) {
    for (const Reply& reply : replies) {
      const bool enough = asked.size() == kNodesAsked && !asked.contains(reply.node);
      (enough ? left : asked).insert(reply.node);
      if (!enough) follow_one(reply, *follow.client, ask, out, documents);
    }
  });
  if (!left.empty()) out.page.line("{} more nodes have pods of it: --node asks one of them", left.size());
  return out;
}

}  // namespace cli
