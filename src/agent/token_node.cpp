#include "agent/token_node.h"

#include <utility>

#include <fmt/format.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "kube/discovery.h"
#include "kube/reflector.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kRequestTime = 10s;

// The server has spoken, and will say the same again: it knows no such question, or does not let us ask it.
bool is_final(const kube::Error& error) {
  using enum base::Fault;
  return error.status && (error.fault() == absent || error.fault() == invalid || error.status->code == 403);
}

}  // namespace

std::optional<NodeVerdict> judge(const kube::Result<kube::User>& answer, const std::string& node) {
  if (!answer) return is_final(answer.error()) ? std::optional(NodeVerdict{.may_act = true}) : std::nullopt;
  const std::string bound_to = answer->node();
  if (bound_to.empty() || bound_to == node) return NodeVerdict{.may_act = true};
  return NodeVerdict{.trouble = fmt::format("WrongNode: the token of this agent is that of node {}, but its name is "
                                            "given as {}; set NODE_NAME from the pod's spec.nodeName",
                                            bound_to, node)};
}

TokenNode::TokenNode(kube::Client& client, std::string node, runtime::Signal& changed)
    : client_(client),
      node_(std::move(node)),
      changed_(changed),
      thread_([this](std::stop_token stop) { ask(std::move(stop)); }) {}

NodeVerdict TokenNode::verdict() const {
  return verdict_.read([](const NodeVerdict& verdict) { return verdict; });
}

// A refusal counts that is said again by a server which has started.
kube::Result<kube::User> TokenNode::who_we_are(const kube::Limit& limit) {
  auto answer = kube::who_am_i(client_, limit);
  if (answer || !is_final(answer.error())) return answer;
  TRY(kube::expect_ready(client_, limit));
  return kube::who_am_i(client_, limit);
}

void TokenNode::ask(std::stop_token stop) {
  base::Backoff backoff(200ms, 30s, kube::random_seed());
  while (!stop.stop_requested()) {
    if (auto verdict = judge(who_we_are(kube::within(kRequestTime, stop)), node_)) {
      if (verdict->trouble) base::log::error("nothing is done on this node", {{"err", *verdict->trouble}});
      verdict_.change([&](NodeVerdict& present) { present = *std::move(verdict); });
      return changed_.raise();
    }
    (void)runtime::Signal().wait(stop, base::SteadyClock().now() + backoff.next());
  }
}

}  // namespace agent
