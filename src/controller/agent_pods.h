#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/pod.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace controller {

// The agents' pods in the name spaces where Agents are: the controller may read pods nowhere else. One thread.
class AgentPods {
 public:
  AgentPods(kube::Client& client, runtime::Signal& changed) : client_(client), changed_(changed) {}

  // A name space that is no longer wanted is followed until its last pod has gone.
  void follow(const std::set<std::string>& name_spaces);

  using View = std::shared_ptr<const kube::View<api::Pod>>;
  std::map<std::string, View> latest() const;  // By name space.

 private:
  kube::Client& client_;
  runtime::Signal& changed_;
  std::map<std::string, std::unique_ptr<kube::Reflector<api::Pod>>> reflectors_;
};

}  // namespace controller
