#include "controller/agent_pods.h"

namespace controller {

void AgentPods::follow(const std::set<std::string>& name_spaces) {
  for (const std::string& ns : name_spaces) {
    auto& reflector = reflectors_[ns];
    if (reflector) continue;
    const kube::Resource pods{.group = "", .version = "v1", .plural = "pods"};
    reflector = std::make_unique<kube::Reflector<api::Pod>>(
        client_, pods, api::decode_pod, changed_,
        kube::Selection{.ns = ns, .label_selector = std::string(api::kAgentPodSelector), .field_selector = ""},
        api::same_agent);
  }
  std::erase_if(reflectors_, [&](const auto& entry) {
    if (name_spaces.contains(entry.first)) return false;
    const auto view = entry.second->latest();
    return !view->complete || view->objects.empty();
  });
}

std::map<std::string, AgentPods::View> AgentPods::latest() const {
  std::map<std::string, View> out;
  for (const auto& [ns, reflector] : reflectors_) out[ns] = reflector->latest();
  return out;
}

}  // namespace controller
