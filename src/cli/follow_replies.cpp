#include "cli/follow_replies.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "json/reader.h"
#include "json/writer.h"

namespace cli {
namespace {

constexpr std::size_t kNodesAsked = 5;

struct Reply {
  net::Address pod;
  std::string node;
  net::Address vip;
  std::uint32_t table = 0;  // By which it should leave; 0: nobody steers it.
};

std::uint32_t wanted_table(const std::vector<Steering>& steerings, const net::Address& vip) {
  for (const Steering& steering : steerings) {
    const auto& vips = steering.desired->vips;
    if (std::ranges::find(vips, vip) != vips.end()) return steering.desired->tuple.table;
  }
  return 0;
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
      out.push_back({.pod = pod, .node = node, .vip = vip, .table = wanted_table(steerings, vip)});
    }
  }
  return out;
}

// The table by which a host's Explanation says that the packet leaves.
base::Result<std::uint32_t> table_of(const Answer& explanation) {
  json::Reader reader;
  const auto root = TRY(reader.parse(explanation.json));
  return root["verdict"]["table"].integer_or<std::uint32_t>(0);
}

void put_verdict(Page& page, const Reply& reply, bool right) {
  if (reply.table == 0) {
    page.line("Reply    nothing steers it");
  } else if (right) {
    page.put("Reply    ").put("RIGHT UPLINK", Tone::good).put(fmt::format(": table {}", reply.table)).end_line();
  } else {
    page.put("Reply    ").put("WRONG UPLINK", Tone::bad).put(fmt::format(", wanted table {}", reply.table)).end_line();
  }
}

// Asks the pod's node; what it said goes into `out` and `documents`.
void follow_one(const Reply& reply, const net::Address& client, const AskNode& ask, FollowedReplies& out,
                json::Array& documents) {
  const auto answer =
      ask(reply.node, {.about = Question::About::explain,
                       .packet = {.from = reply.pod.text(), .to = client.text(), .reply_of = reply.vip.text()}});
  const auto table = answer ? table_of(*answer) : base::Result<std::uint32_t>(std::unexpected(answer.error()));
  if (!table) {
    out.gaps.push_back(fmt::format("the kernel of {}: {}", reply.node, table.error().message()));
    return;
  }
  const bool right = reply.table == 0 || *table == reply.table;
  out.right = out.right && right;
  out.page.line("Reply of pod {} on {} to {}, of a connection to {}", reply.pod.text(), reply.node, client.text(),
                reply.vip.text());
  out.page.append(answer->page);
  put_verdict(out.page, reply, right);
  documents.object([&](json::Object& item) {
    item.put("node", reply.node);
    item.put("pod", reply.pod.text());
    item.put("vip", reply.vip.text());
    item.put("wantedTable", reply.table);
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
