#include "controller/cluster_script.h"

#include <fmt/format.h>

#include "api/api.h"
#include "api/kinds.h"
#include "json/reader.h"
#include "kube/watch.h"

namespace controller_test {
namespace {

using api_test::must;
using api_test::soon;

const kube::Resource kNodes{"", "v1", "nodes", false};
const kube::Resource kPods{"", "v1", "pods", true};
const kube::Resource kServices{"", "v1", "services", true};
const kube::Resource kNamespaces{"", "v1", "namespaces", false};
const kube::Resource kAccounts{"", "v1", "serviceaccounts", true};
const kube::Resource kEvents{"events.k8s.io", "v1", "events", true};

kube::Resource ours(std::string_view plural, bool namespaced = false) {
  return {std::string(api::kGroup), std::string(api::kVersion), std::string(plural), namespaced};
}

std::string list_all(kube::Client& client, const kube::Resource& resource) {
  return must(client.list(resource, {.selection = {}, .token = ""}, soon()));
}

template <typename Decode>
auto decode_all(const std::string& body, Decode decode) {
  json::Reader reader;
  const auto list = must(reader.parse(body));
  std::vector<std::decay_t<decltype(*decode(list))>> out;
  const auto items = must(list["items"].items_or_none());
  for (const json::Value& item : items) out.push_back(must(decode(item)));
  return out;
}

void delete_all(kube::Client& client, const kube::Resource& resource) {
  const auto names = decode_all(list_all(client, resource), [](const json::Value& value) {
    return meta::decode_meta(value, meta::Keep::identity());
  });
  for (const meta::Meta& one : names) {
    if (resource.plural == "services" && one.name == "kubernetes") continue;
    (void)client.remove(resource, {one.ns, one.name}, {}, soon());  // Somebody may have been faster.
  }
}

}  // namespace

ClusterScript::ClusterScript() : client_(api_test::admin()) {
  static const bool kKindsAreThere = [&] {
    must(cluster_.kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"}));
    must(cluster_.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
    return true;
  }();
  (void)kKindsAreThere;
  (void)client_->create(kNamespaces, "", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", kNamespace), soon());
  (void)client_->create(kAccounts, kNamespace, R"({"metadata":{"name":"default"}})", soon());
}

ClusterScript::~ClusterScript() {
  forget_rules();
  delete_all(*client_, ours("agents", true));
  (void)cluster_.kubectl({"delete", "pods", "--all", "--force", "-n", kNamespace});
  delete_all(*client_, kNodes);
}

void ClusterScript::forget_rules() {
  for (const auto* plural : {"iprules", "ipruleconfigs", "nodestates"}) delete_all(*client_, ours(plural));
  delete_all(*client_, kServices);
}

void ClusterScript::add_agent(const std::string& spec) {
  must(client_->create(
      ours("agents", true), kNamespace,
      fmt::format(R"({{"apiVersion":"{}","kind":"Agent","metadata":{{"name":"agent","namespace":"{}"}},"spec":{}}})",
                  api::kApiVersion, kNamespace, spec),
      soon()));
}

void ClusterScript::patch_agent(const std::string& patch) {
  must(client_->patch(ours("agents", true), {kNamespace, "agent"}, kube::PatchType::merge, patch, soon()));
}

void ClusterScript::add_node(const std::string& name, AgentKind kind) {
  must(client_->create(kNodes, "", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name), soon()));
  const std::string more = kind == AgentKind::ours ? R"(,"app.kubernetes.io/name":"ip-rule-operator")" : "";
  const std::string pod = "agent-" + name.substr(0, 40);
  must(client_->create(kPods, kNamespace,
                       fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"app":"iprule-agent"{}}}}},)"
                                   R"("spec":{{"nodeName":"{}","containers":[{{"name":"agent","image":"none"}}]}}}})",
                                   pod, more, name),
                       soon()));
  must(client_->patch_status(kPods, {kNamespace, pod}, kube::PatchType::merge,
                             R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", soon()));
}

void ClusterScript::delete_node(const std::string& name) {
  must(cluster_.kubectl({"delete", "pod", "agent-" + name.substr(0, 40), "--force", "-n", kNamespace}));
  must(client_->remove(kNodes, {"", name}, {}, soon()));
}

void ClusterScript::put_rule(const std::string& name, const std::string& spec) {
  must(client_->patch(ours("iprules"), {"", name}, kube::PatchType::apply,
                      fmt::format(R"({{"apiVersion":"{}","kind":"IPRule","metadata":{{"name":"{}"}},"spec":{}}})",
                                  api::kApiVersion, name, spec),
                      soon()));
}

void ClusterScript::delete_rule(const std::string& name) {
  must(client_->remove(ours("iprules"), {"", name}, {}, soon()));
}

std::string ClusterScript::put_service(const std::string& name, const std::string& vip, const std::string& cluster_ip) {
  const std::string address = cluster_ip.empty() ? "" : fmt::format(R"("clusterIP":"{}",)", cluster_ip);
  (void)client_->create(kServices, "default",
                        fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"type":"LoadBalancer",{}"ports":[{{)"
                                    R"("port":80}}]}}}})",
                                    name, address),
                        soon());  // It may be there already.
  must(client_->patch_status(kServices, {"default", name}, kube::PatchType::merge,
                             fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"{}"}}]}}}}}})", vip),
                             soon()));
  return api_test::at(must(client_->get(kServices, {"default", name}, soon())), "spec", "clusterIP");
}

void ClusterScript::delete_service(const std::string& name) {
  must(client_->remove(kServices, {"default", name}, {}, soon()));
}

std::uint64_t ClusterScript::newest_version() {
  const std::string body = list_all(*client_, ours("ipruleconfigs"));
  return must(kube::parse_version(api_test::at(body, "metadata", "resourceVersion")));
}

void ClusterScript::report(const std::string& node) {
  report_epoch(node, newest_version());
}

void ClusterScript::report_epoch(const std::string& node, std::uint64_t epoch) {
  const auto token = api_test::at(must(client_->get(ours("nodestates"), {"", node}, soon())), "spec", "token");
  must(client_->patch_status(
      ours("nodestates"), {"", node}, kube::PatchType::merge,
      fmt::format(R"({{"status":{{"token":"{}","settled":[{{"kind":"IPRuleConfig","epoch":{}}}]}}}})", token, epoch),
      soon()));
}

void ClusterScript::report_failure(const std::string& node, const std::string& name) {
  must(client_->patch_status(
      ours("nodestates"), {"", node}, kube::PatchType::merge,
      fmt::format(R"({{"status":{{"settled":[{{"kind":"IPRuleConfig","epoch":{},"failedCount":1,"failed":[{{)"
                  R"("uid":"{}","name":"{}","reason":"RuleAddFailed","message":"ENOBUFS"}}]}}]}}}})",
                  newest_version(), config(name)->meta.uid, name),
      soon()));
}

void ClusterScript::report_condition(const std::string& node, const std::string& condition) {
  must(client_->patch_status(ours("nodestates"), {"", node}, kube::PatchType::merge,
                             fmt::format(R"({{"status":{{"conditions":[{}]}}}})", condition), soon()));
}

void ClusterScript::report_all() {
  for (const api::NodeState& state : states()) report(state.meta.name);
}

// It reads and updates, and tries again where somebody came between, as the old agents do.
void ClusterScript::acknowledge_as_old_agent(const std::string& name, const std::string& node) {
  constexpr int kTries = 5;
  for (int i = 1;; ++i) {
    json::Reader reader;
    const std::string body = must(client_->get(ours("ipruleconfigs"), {"", name}, soon()));
    auto config = must(api::decode_iprule_config(must(reader.parse(body))));
    config.meta.annotations.set(fmt::format("{}{}", api::kCleanupPrefix, node), "done");
    const auto done = client_->update(ours("ipruleconfigs"), {"", name}, api::encode(config), soon());
    if (done || done.error().fault() != base::Fault::conflict || i == kTries) return (void)must(done);
  }
}

void ClusterScript::patch_config(const std::string& name, const std::string& patch) {
  must(client_->patch(ours("ipruleconfigs"), {"", name}, kube::PatchType::merge, patch, soon()));
}

std::vector<api::IPRuleConfig> ClusterScript::configs() {
  return decode_all(list_all(*client_, ours("ipruleconfigs")), api::decode_iprule_config);
}

std::vector<api::NodeState> ClusterScript::states() {
  return decode_all(list_all(*client_, ours("nodestates")), api::decode_node_state);
}

std::optional<api::IPRuleConfig> ClusterScript::config(const std::string& name) {
  for (api::IPRuleConfig& one : configs()) {
    if (one.meta.name == name) return std::move(one);
  }
  return std::nullopt;
}

api::IPRule ClusterScript::rule(const std::string& name) {
  json::Reader reader;
  const std::string body = must(client_->get(ours("iprules"), {"", name}, soon()));
  return must(api::decode_iprule(must(reader.parse(body))));
}

std::string ClusterScript::condition(const std::string& name, const std::string& type) {
  const api::IPRule found = rule(name);
  const auto* condition = meta::find(found.status.conditions, type);
  return condition != nullptr ? fmt::format("{} {}", meta::text(condition->status), condition->reason) : "";
}

std::string ClusterScript::events() {
  return list_all(*client_, kEvents);
}

ObedientAgents::ObedientAgents(ClusterScript& script)
    : thread_([&script](std::stop_token stop) {
        std::uint64_t last = 0;
        while (!stop.stop_requested()) {
          try {
            std::uint64_t newest = 0;
            for (const api::IPRuleConfig& config : script.configs()) {
              newest = std::max(newest, kube::parse_version(config.meta.resource_version).value_or(0));
            }
            if (newest > last || newest == 0) script.report_all();
            last = newest;
          } catch (const std::runtime_error&) {
            continue;  // A call that failed: they try again, as agents do.
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
      }) {}

}  // namespace controller_test
