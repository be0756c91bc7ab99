#include "cli/lab.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "kernel/engine.h"
#include "lab/demonstration.h"
#include "lab/scene.h"
#include "lab/world.h"

namespace cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

// Each node's Service has a VIP in the range of the one IPRule; what the node sees as the source of replies is the
// Service's ClusterIP.
std::string manifests(const lab::Scene& scene, const lab::SceneNode& node) {
  return fmt::format(R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: public-eu}}
spec: {{cidrs: [203.0.113.0/24, "2001:db8:113::/64"], table: {}, priority: 1000}}
---
apiVersion: v1
kind: Service
metadata: {{name: frontend, namespace: shop}}
spec: {{type: LoadBalancer, clusterIPs: ["{}", "{}"]}}
status: {{loadBalancer: {{ingress: [{{ip: 203.0.113.45}}, {{ip: "2001:db8:113::45"}}]}}}}
)",
                     scene.kTable, node.service[0].text(), node.service[1].text());
}

// How many of the node's Service addresses have a rule of ours, by the kernel's own word.
base::Result<std::size_t> count_rules(const lab::SceneNode& node) {
  auto engine = TRY(kernel::Engine::open({}));
  const auto seen = TRY(engine.observe({}));
  return static_cast<std::size_t>(std::ranges::count_if(state::state_of(seen).rules, [&](const state::Rule& rule) {
    return engine.ownership().owns(rule) && rule.table == lab::Scene::kTable && rule.selector.from &&
           std::ranges::find(node.service, rule.selector.from->address()) != node.service.end();
  }));
}

base::Result<bool> has_rules(const lab::SceneNode& node) {
  base::Result<std::size_t> found = 0;
  TRY(node.host->within([&] {
    found = count_rules(node);
    return base::Status();
  }));
  return TRY(std::move(found)) == node.service.size();
}

base::Status wait_for_rules(const lab::SceneNode& node, lab::Process& agent) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!TRY(has_rules(node))) {
    if (!agent.running()) {
      return base::fail(base::Fault::unavailable, fmt::format("the agent on {} ended: {}", node.name, agent.errors()));
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return base::fail(base::Fault::timeout,
                        fmt::format("no rules on {}; its agent said: {}", node.name, agent.errors()));
    }
    std::this_thread::sleep_for(5ms);  // Between two looks at the kernel; the fact above ends the wait.
  }
  return {};
}

class Lab {
 public:
  Lab(const LabOptions& options, const std::function<void(std::string_view)>& print)
      : options_(options), print_(print) {}

  base::Result<bool> show() {
    const auto start = std::chrono::steady_clock::now();
    auto world = TRY(lab::World::make());
    auto scene = TRY(lab::Scene::build(world, 1));
    print_(fmt::format(
        "built     1 node with 2 uplinks, 2 gateways, 1 client, 1 pod with the Service's addresses: "
        "{} network namespaces, {:.1f} s\n",
        world.host_count(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
    const auto shown = TRY(lab::demonstrate(*scene, acts(), [](const lab::Row&) {}));
    print_(lab::format_table(shown.rows));
    print_(shown.as_expected ? "removed   everything; the rule made the difference\n"
                             : "removed   everything; a reply took an uplink it should not\n");
    return shown.as_expected;
  }

 private:
  std::vector<lab::Act> acts() {
    return {{.what = "no rule", .expect = lab::Act::Expect::wrong},
            {.what = "IPRule public-eu", .prepare = [this](lab::Scene& scene) { return start_agents(scene); }},
            {.what = "agent killed", .prepare = [this](lab::Scene&) { return kill_agents(); }}};
  }

  base::Status start_agents(lab::Scene& scene) {
    for (lab::SceneNode& node : scene.nodes()) {
      const std::filesystem::path folder = std::filesystem::temp_directory_path() / node.name;
      std::filesystem::create_directory(folder);
      TRY(base::write_file(folder / "shop.yaml", manifests(scene, node)));
      agents_.push_back(TRY(node.host->start({.arguments = {options_.agent.native(), "standalone", folder.native()}})));
      TRY(wait_for_rules(node, *agents_.back()));
    }
    return {};
  }

  base::Status kill_agents() {
    for (lab::Process* agent : agents_) agent->kill();
    return {};
  }

  const LabOptions& options_;
  const std::function<void(std::string_view)>& print_;
  std::vector<lab::Process*> agents_;
};

}  // namespace

base::Result<bool> show_lab(const LabOptions& options, const std::function<void(std::string_view)>& print) {
  return Lab(options, print).show();
}

}  // namespace cli
