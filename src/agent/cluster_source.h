#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/agent_list.h"
#include "agent/damped_labels.h"
#include "agent/node_compiler.h"
#include "agent/node_loop.h"
#include "agent/vanished.h"
#include "api/agent.h"
#include "api/node.h"
#include "api/node_state.h"
#include "api/published_config.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace agent {

// What the API server has published for this node. Follows it from construction on; `changed` is raised when there is
// something new. While the server is away, the last that was known stays. All but the constructor is for the thread of
// the loop.
class ClusterSource {
 public:
  // `fallback`: what counts where no Agent says otherwise; `home`: where the one that counts is looked for first.
  ClusterSource(kube::Client& client, std::string node, NodeSettings fallback, std::string home,
                runtime::Signal& changed);

  // Nothing until every list it needs has been seen whole.
  std::optional<Wanted> latest(const Sight& sight);

  // What the last latest() was made from.
  struct Basis {
    std::shared_ptr<const kube::View<api::PublishedConfig>> configs{};
    std::shared_ptr<const kube::View<api::Agent>> agents{};
    std::shared_ptr<const kube::View<api::Node>> nodes{};         // Our own, or none.
    std::shared_ptr<const kube::View<api::NodeState>> reports{};  // Our own, or none.
    // The objects were listed after the present token was given: only then do their numbers mean what it says.
    bool listed_under_token = false;

    bool complete() const;
    const kube::Object<api::Node>* node() const {
      return nodes->objects.empty() ? nullptr : nodes->objects.front().get();
    }
    const kube::Object<api::NodeState>* report() const {
      return reports->objects.empty() ? nullptr : reports->objects.front().get();
    }
  };
  const Basis& basis() const { return basis_; }

  // Whether the objects of the last latest() were listed a second time since this was first asked. If not, that list is
  // under way, and `changed` will be raised.
  bool confirm();

  // The watch has delivered the end of the Agent that counted, and there is no other now: none that counts, and none
  // that cannot be read.
  bool saw_agent_end() const;

  // The Agents of an answer, or of the watch, which has shown as much as any answer that is not newer; nothing where
  // one of them cannot be read.
  std::optional<std::vector<api::Agent>> newest_agents(AgentList answer) const;

 private:
  void join();  // Begins to follow the published objects, when it is this node's turn.
  void follow_configs(base::TimePoint begin);
  void follow_token();
  NodeSettings settings();
  std::vector<plan::Heirloom> heirlooms(const Sight& sight) const;

  std::string node_name_;
  std::string home_;
  NodeSettings fallback_;
  NodeCompiler compiler_;
  Vanished vanished_;
  DampedLabels labels_;
  Basis basis_;
  bool saw_agent_ = false;                      // One that counted.
  std::optional<api::Agent::Spec> agent_spec_;  // Of the one that counts, or counted before it could not be read.
  std::vector<net::Prefix> cluster_prefixes_;   // As our NodeState said last.
  struct Confirmation {
    std::uint64_t list = 0;  // By this one.
    base::TimePoint asked{};
  };
  std::optional<Confirmation> confirming_;
  std::optional<std::string> token_;      // The last that was seen; "" where there was none.
  std::uint64_t listed_since_token_ = 0;  // From this list on they count under it.
  kube::Client& client_;
  runtime::Signal& changed_;
  std::optional<kube::Reflector<api::PublishedConfig>> configs_;
  kube::Reflector<api::Agent> agents_;
  kube::Reflector<api::Node> nodes_;
  kube::Reflector<api::NodeState> reports_;
};

}  // namespace agent
