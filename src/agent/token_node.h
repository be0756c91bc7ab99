#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "kube/review.h"
#include "runtime/guarded.h"
#include "runtime/signal.h"

namespace agent {

// What the API server's word on who we are means for an agent that takes itself for a certain node.
struct NodeVerdict {
  bool may_act = false;                  // That node's objects are ours to program, and its report ours to write.
  std::optional<std::string> trouble{};  // Why not, for people. Neither: there is no answer yet.

  bool is_given() const { return may_act || trouble; }
};

// Nothing where the answer is none, and must be asked for again. A server that knows no nodes of tokens, or a login
// that belongs to none, is no reason to doubt the name.
std::optional<NodeVerdict> judge(const kube::Result<kube::User>& answer, const std::string& node);

// Whether this agent is that of the node whose name it was given. Its token is bound to its pod and so to one node, and
// the API server knows which: a wrong NODE_NAME would put another node's rules here and spoil that node's report. Asked
// once, on a thread of its own, and again with back-off while nobody answers; `changed` is raised by the answer.
class TokenNode {
 public:
  TokenNode(kube::Client& client, std::string node, runtime::Signal& changed);

  NodeVerdict verdict() const;

 private:
  void ask(std::stop_token stop);
  kube::Result<kube::User> who_we_are(const kube::Limit& limit);

  kube::Client& client_;
  const std::string node_;
  runtime::Signal& changed_;
  runtime::Guarded<NodeVerdict> verdict_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace agent
