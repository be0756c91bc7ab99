#include "cli/lab.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "cli/lab_node.h"
#include "lab/demonstration.h"
#include "lab/scene.h"
#include "lab/service_proxy.h"
#include "lab/traffic.h"
#include "lab/world.h"
#include "plan/ownership.h"

namespace cli {
namespace {

using lab::Act;
using lab::Scene;

constexpr int kManyServices = 5000;

std::string manifests(const lab::SceneNode& node, std::string_view mode, int more_services = 0) {
  std::string out = fmt::format(R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: public-eu}}
spec: {{cidrs: [203.0.113.0/24, 203.1.0.0/16, "2001:db8:113::/64"], table: {}, priority: 1000, source: {{modes: [{}]}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: frontend, namespace: shop}}
spec: {{type: LoadBalancer, clusterIPs: ["{}", "{}"]}}
status: {{loadBalancer: {{ingress: [{{ip: "{}"}}, {{ip: "{}"}}]}}}}
)",
                                Scene::kTable, mode, node.service[0].text(), node.service[1].text(), node.vip[0].text(),
                                node.vip[1].text());
  for (int i = 0; i < more_services; ++i) {
    const int high = i / 250;
    const int low = i % 250 + 1;
    out += fmt::format(R"(---
apiVersion: v1
kind: Service
metadata: {{name: s{0}, namespace: shop}}
spec: {{type: LoadBalancer, clusterIPs: ["10.97.{1}.{2}"]}}
status: {{loadBalancer: {{ingress: [{{ip: "203.1.{1}.{2}"}}]}}}}
)",
                       i, high, low);
  }
  return out;
}

std::size_t count_rules(const state::NetState& kernel, bool by_mark) {
  return static_cast<std::size_t>(std::ranges::count_if(kernel.rules, [&](const state::Rule& rule) {
    return plan::Ownership().owns(rule) && rule.selector.mark.has_value() == by_mark;
  }));
}

// Both of the Service's cluster addresses have a rule, and nothing is marked.
bool steers_cluster_addresses(const state::NetState& kernel) {
  return count_rules(kernel, false) == 2 && !kernel.nft;
}

// Replies of both VIPs are marked, and two rules for each family, that for `main` included, know the mark.
bool steers_replies(const state::NetState& kernel) {
  return kernel.nft && kernel.nft_strange.empty() && kernel.nft->vips.size() == 2 && count_rules(kernel, true) == 4 &&
         count_rules(kernel, false) == 0;
}

bool steers_many_by_mark(const state::NetState& kernel) {
  return kernel.nft && kernel.nft->sources.size() == kManyServices + 2 && count_rules(kernel, false) == 0;
}

class Lab {
 public:
  Lab(const LabOptions& options, const std::function<void(std::string_view)>& print)
      : options_(options), print_(print) {}

  base::Result<bool> show() {
    const auto begun = std::chrono::steady_clock::now();
    auto world = TRY(lab::World::make());
    auto scene = TRY(Scene::build(world, 1));
    lab::SceneNode& worker = scene->nodes().front();
    TRY(lab::translate_vips(worker));
    node_.emplace(worker, options_.agent, std::filesystem::temp_directory_path() / worker.name);
    print_(fmt::format(
        "built     1 node with 2 uplinks and a service proxy, 2 gateways, 1 client, 1 pod behind {}: {} network "
        "namespaces, {:.1f} s\n",
        worker.vip[0].text(), world.host_count(),
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()));
    const bool right = TRY(play(*scene));
    print_(right ? "removed   everything; every reply took the uplink it should\n"
                 : "removed   everything; a reply took an uplink it should not\n");
    return right;
  }

 private:
  base::Result<bool> play(Scene& scene) {
    std::vector<lab::Row> rows;
    bool right = true;
    if (wants("uplinks")) right &= TRY(play_acts(scene, uplinks(), rows));
    if (wants("faults")) right &= TRY(play_acts(scene, faults(), rows));
    if (wants("many")) {
      rows.push_back(TRY(base::within("many Services", play_many(scene))));
      right &= rows.back().right();
    }
    print_(lab::format_table(rows));
    return right;
  }

  bool wants(std::string_view scenario) const { return options_.scenario.empty() || options_.scenario == scenario; }

  base::Result<bool> play_acts(Scene& scene, std::vector<Act> acts, std::vector<lab::Row>& rows) {
    for (Act& act : acts) act.target = Act::Target::vip;
    auto shown = TRY(lab::demonstrate(scene, acts));
    std::ranges::move(shown.rows, std::back_inserter(rows));
    return shown.as_expected;
  }

  std::vector<Act> uplinks() {
    return {{.what = "no rule", .expect = Act::Expect::wrong},
            {.what = "IPRule public-eu, ClusterIP",
             .expect = Act::Expect::wrong,
             .prepare = [this](Scene&) { return steer("ClusterIP", steers_cluster_addresses); }},
            {.what = "IPRule public-eu, Reply", .prepare = [this](Scene&) { return steer("Reply", steers_replies); }},
            {.what = "agent killed", .prepare = [this](Scene&) { return kill(); }}};
  }

  std::vector<Act> faults() {
    return {
        {.what = "agent started again", .prepare = [this](Scene&) { return steer("Reply", steers_replies); }},
        {.what = "eth1 lost and back", .prepare = [this](Scene&) { return flap(); }},
        {.what = "rules flushed by somebody", .prepare = [this](Scene&) { return repaired(lab::flush_rules); }},
        {.what = "nftables flushed by somebody", .prepare = [this](Scene&) { return repaired(lab::flush_ruleset); }}};
  }

  base::Result<std::string> steer(std::string_view mode, const LabNode::Fact& fact) {
    TRY(node_->write_manifests(manifests(node_->scene(), mode)));
    if (!running_) TRY(node_->start_agent());
    running_ = true;
    TRY(node_->wait_until(mode, fact));
    return mode == "ClusterIP" ? "the source is the pod's address" : "";
  }

  base::Result<std::string> kill() {
    node_->kill_agent();
    running_ = false;
    return "the kernel keeps what it has";
  }

  // Routes of a link go with it; whoever filled the table fills it again.
  base::Result<std::string> flap() {
    lab::Host& host = *node_->scene().host;
    TRY(lab::set_up(host.rtnl(), "eth1", false));
    TRY(lab::set_up(host.rtnl(), "eth1"));
    TRY(Scene::lay_uplink_b(node_->scene()));
    return "";
  }

  template <typename Damage>
  base::Result<std::string> repaired(Damage damage) {
    TRY(damage(node_->scene()));
    const auto took = TRY(node_->wait_until("repair", steers_replies));
    TRY(lab::translate_vips(node_->scene()));  // As kube-proxy does for its part.
    return fmt::format("repaired in {} ms", took.count());
  }

  // Conversations go on while so many Services come that rules would be too slow.
  base::Result<lab::Row> play_many(Scene& scene) {
    TRY(steer("ClusterIP", steers_cluster_addresses));
    auto traffic = TRY(lab::Traffic::start(scene, node_->scene(), 50));
    TRY(node_->write_manifests(manifests(node_->scene(), "ClusterIP", kManyServices)));
    const auto took = TRY(node_->wait_until("marks", steers_many_by_mark));
    auto tally = TRY(traffic->stop());
    return lab::Row{.what = fmt::format("{} more Services", kManyServices),
                    .tally = tally,
                    .note = fmt::format("rules became marks in {:.1f} s", std::chrono::duration<double>(took).count())};
  }

  const LabOptions& options_;
  const std::function<void(std::string_view)>& print_;
  std::optional<LabNode> node_;
  bool running_ = false;
};

}  // namespace

const std::vector<LabScenario>& lab_scenarios() {
  static const std::vector<LabScenario> kScenarios = {
      {"uplinks", "No rule, the source mode ClusterIP, the source mode Reply, the agent killed"},
      {"faults", "A lost link, foreign flushes of the rules and of nftables"},
      {"many", "5,000 Services come while conversations go on"},
  };
  return kScenarios;
}

base::Result<bool> show_lab(const LabOptions& options, const std::function<void(std::string_view)>& print) {
  return Lab(options, print).show();
}

}  // namespace cli
