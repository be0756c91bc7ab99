// Objects as protobuf messages, as the real API server writes them for those who ask: the same as the JSON of them.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api.h"
#include "api/endpoint_slice.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/service.h"
#include "kube/page.h"
#include "kube/reflector.h"
#include "testbed/fault_proxy.h"

namespace api_test {
namespace {

namespace fault = testbed::fault;

const kube::Resource kServices{"", "v1", "services", true};
const kube::Resource kPods{"", "v1", "pods", true};
const kube::Resource kSlices{"discovery.k8s.io", "v1", "endpointslices", true};

class MessageTest : public ApiTest {
 protected:
  void create(const kube::Resource& resource, const std::string& object) {
    ASSERT_OK(client_->create(resource, resource.namespaced ? ns_ : "", object, soon()));
  }
  void patch_status(const kube::Resource& resource, const kube::Key& of, const std::string& status) {
    ASSERT_OK(client_->patch_status(resource, of, kube::PatchType::merge, status, soon()));
  }
  kube::Result<std::string> put_service(const std::string& name, const std::string& value) {
    return client_->patch(
        kServices, key(name), kube::PatchType::apply,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}"}},"spec":{{"clusterIP":"None","externalName":"{}","ports":[{{"port":80}}]}}}})",
            name, value),
        soon());
  }

  // "ADDED name", or what an error says.
  std::optional<std::string> first_event(const kube::Resource& resource, std::uint64_t from) {
    auto stream = must(client_->watch(
        resource,
        {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .from = from, .as_message = true},
        soon()));
    kube::EventReader events(&api::Service::kMessage);
    json::Reader reader;
    for (;;) {
      const auto bytes = stream.read(soon().deadline, {});
      if (!bytes || bytes->empty()) return std::nullopt;
      events.feed(*bytes);
      const auto event = must(events.next(reader));
      if (!event) continue;
      if (event->status) return fmt::format("{} {}", event->status->code, event->status->reason);
      return fmt::format("{} {}", event->type == kube::Event::Type::added ? "ADDED" : "other",
                         event->identity.key.name);
    }
  }

  // All objects of a list in one of the two encodings; that it is this one is checked.
  template <typename T>
  std::map<std::string, T> listed(const kube::Resource& resource, base::Result<T> (*decode)(const json::Value&),
                                  bool as_message) {
    const auto body = must(
        client_->list(resource,
                      {.selection = {.ns = resource.namespaced ? ns_ : "", .label_selector = "", .field_selector = ""},
                       .limit = 500,
                       .token = "",
                       .as_message = as_message},
                      soon()));
    EXPECT_EQ(kube::is_message(body), as_message);
    json::Reader reader;
    auto page = must(kube::Page::open(body, &T::kMessage, reader));
    std::map<std::string, T> out;
    const auto take = [&](const kube::Item& item) -> base::Status {
      const auto object = TRY(item.object);
      auto value = TRY(decode(object));
      out.emplace(value.meta.name, std::move(value));
      return {};
    };
    must(page.each(take));
    EXPECT_GT(page.version(), 0U);
    return out;
  }
  template <typename T>
  T the_same(const kube::Resource& resource, base::Result<T> (*decode)(const json::Value&), const std::string& name) {
    const auto texts = listed(resource, decode, false);
    EXPECT_EQ(listed(resource, decode, true), texts);
    return texts.at(name);
  }
};

TEST_F(MessageTest, services_are_the_same_as_in_json) {
  create(kServices, R"({"metadata":{"name":"web","labels":{"app":"web"},"annotations":{"note":"gr\u00fc\u00df"},
      "finalizers":["example.com/held"]},
      "spec":{"type":"LoadBalancer","ports":[{"port":80}],"selector":{"app":"web"}}})");
  create(kServices, R"({"metadata":{"name":"headless"},"spec":{"clusterIP":"None","ports":[{"port":80}]}})");
  create(kServices, R"({"metadata":{"name":"far"},"spec":{"type":"ExternalName","externalName":"example.com"}})");
  patch_status(kServices, key("web"),
               R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.9","ipMode":"Proxy"},{"ip":"2001:db8::9"},
                   {"hostname":"lb.example.com"}]}}})");
  ASSERT_OK(client_->remove(kServices, key("web"), {}, soon()));  // It stays, with the instant at which it was to go.
  const auto web = the_same(kServices, api::decode_service, "web");
  EXPECT_TRUE(web.is_load_balancer && web.meta.terminating());
  EXPECT_EQ(web.cluster_ips.size(), 1U);
  EXPECT_EQ(web.vips.size(), 2U);
  EXPECT_EQ(web.proxied_vips.size(), 1U);
  EXPECT_EQ(web.hostnames, 1U);
  ASSERT_OK(
      client_->patch(kServices, key("web"), kube::PatchType::merge, R"({"metadata":{"finalizers":null}})", soon()));
}

TEST_F(MessageTest, nodes_are_the_same_as_in_json) {
  create(kNodes, R"({"metadata":{"name":"message-node","labels":{"zone":"a","kubernetes.io/os":"linux"}},
      "spec":{"podCIDR":"10.244.9.0/24","podCIDRs":["10.244.9.0/24","fd09::/64"]}})");
  patch_status(
      kNodes, {"", "message-node"},
      R"({"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.9"},{"type":"Hostname","address":"m"}],
                   "nodeInfo":{"architecture":"amd64","bootID":"b-1","containerRuntimeVersion":"c","kernelVersion":"6",
                   "kubeProxyVersion":"","kubeletVersion":"v1","machineID":"m","operatingSystem":"linux","osImage":"o",
                   "systemUUID":"s"}}})");
  const auto node = the_same(kNodes, api::decode_node, "message-node");
  EXPECT_EQ(node.pod_cidrs.size(), 2U);
  EXPECT_EQ(node.addresses.size(), 1U);
  EXPECT_EQ(node.boot_id, "b-1");
  EXPECT_EQ(node.meta.labels.get("zone"), "a");
  ASSERT_OK(client_->remove(kNodes, {"", "message-node"}, {}, soon()));
}

TEST_F(MessageTest, pods_are_the_same_as_in_json) {
  create({"", "v1", "serviceaccounts", true}, R"({"metadata":{"name":"default"}})");
  create(kPods,
         R"({"metadata":{"name":"agent","labels":{"app":"iprule-agent","app.kubernetes.io/name":"ip-rule-operator"}},
      "spec":{"nodeName":"message-node","automountServiceAccountToken":false,
              "containers":[{"name":"agent","image":"agent"}]}})");
  patch_status(kPods, key("agent"), R"({"status":{"conditions":[{"type":"Initialized","status":"True"},
      {"type":"Ready","status":"True","lastTransitionTime":"2026-01-31T10:00:00Z"}]}})");
  const auto pod = the_same(kPods, api::decode_pod, "agent");
  EXPECT_EQ(pod.node_name, "message-node");
  EXPECT_TRUE(pod.is_ready && pod.reports);
}

// The server computes in nanoseconds, and comes to an instant in the eighteenth century.
TEST_F(MessageTest, a_pod_that_is_to_go_after_three_hundred_years_hides_no_other) {
  create({"", "v1", "serviceaccounts", true}, R"({"metadata":{"name":"default"}})");
  for (const auto* name : {"patient", "other"}) {
    create(kPods, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"nodeName":"message-node",
        "automountServiceAccountToken":false,"containers":[{{"name":"agent","image":"agent"}}]}}}})",
                              name));
  }
  const auto deleted =
      client_->send({.method = "DELETE",
                     .target = fmt::format("/api/v1/namespaces/{}/pods/patient?gracePeriodSeconds=9999999999", ns_)},
                    soon());
  ASSERT_OK(deleted);
  ASSERT_EQ(deleted->status, 200) << deleted->body;
  const auto pod = the_same(kPods, api::decode_pod, "patient");
  EXPECT_TRUE(pod.meta.terminating());
  EXPECT_LT(pod.meta.deleted, meta::Time()) << "before 1970";
  EXPECT_EQ(listed(kPods, api::decode_pod, true).size(), 2U);
}

TEST_F(MessageTest, endpoint_slices_are_the_same_as_in_json) {
  create(kSlices, R"({"metadata":{"name":"web-1","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
      "endpoints":[{"addresses":["10.244.9.1"],"conditions":{"ready":true},"nodeName":"a"},
                   {"addresses":["10.244.9.2"],"conditions":{"ready":false},"nodeName":"b"},
                   {"addresses":["10.244.9.3"]}],"ports":[{"port":80}]})");
  const auto slice = the_same(kSlices, api::decode_endpoint_slice, "web-1");
  EXPECT_EQ(slice.service, "web");
  EXPECT_EQ(slice.ready.size(), 2U);
}

TEST_F(MessageTest, a_refusal_tells_as_much_as_in_json) {
  const auto old = [&](bool as_message) {
    return client_->list(kServices,
                         {.selection = {.ns = ns_, .label_selector = "a=(", .field_selector = ""},
                          .token = "",
                          .as_message = as_message},
                         soon());
  };
  const auto in_json = old(false);
  const auto in_message = old(true);
  ASSERT_FALSE(in_json);
  ASSERT_FALSE(in_message);
  EXPECT_EQ(in_message.error().status->reason, "BadRequest");
  EXPECT_EQ(in_message.error().message(), in_json.error().message());

  const auto too_new = client_->list(
      kServices, {.selection = {.ns = ns_}, .not_older_than = 1ULL << 40U, .token = "", .as_message = true}, soon());
  ASSERT_FALSE(too_new);
  EXPECT_TRUE(too_new.error().status->has_cause("ResourceVersionTooLarge")) << too_new.error().message();
}

TEST_F(MessageTest, pages_come_one_after_the_other) {
  for (int i = 0; i < 7; ++i) ASSERT_OK(put_service(fmt::format("s{}", i), ""));
  std::string token;
  std::vector<std::string> found;
  do {
    const auto body = must(client_->list(kServices,
                                         {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""},
                                          .limit = 3,
                                          .token = token,
                                          .as_message = true},
                                         soon()));
    json::Reader reader;
    auto page = must(kube::Page::open(body, &api::Service::kMessage, reader));
    EXPECT_EQ(kube::next_page(body), page.next());
    const auto take = [&](const kube::Item& item) -> base::Status {
      found.push_back(item.identity.key.name);
      return {};
    };
    must(page.each(take));
    token = page.next();
  } while (!token.empty());
  EXPECT_EQ(found, (std::vector<std::string>{"s0", "s1", "s2", "s3", "s4", "s5", "s6"}));
}

TEST_F(MessageTest, A1_both_forms_of_gone_are_understood) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(put_service(fmt::format("s{}", i), ""));
  kube::ListRequest paged{.selection = {.ns = ns_}, .limit = 2, .token = "", .as_message = true};
  const auto first = must(client_->list(kServices, paged, soon()));
  paged.token = kube::next_page(first);
  json::Reader reader;
  const auto version = must(kube::Page::open(first, &api::Service::kMessage, reader)).version();
  ASSERT_OK(put_service("s4", ""));
  ASSERT_OK(cluster_.compact());
  ASSERT_OK(cluster_.api_server().restart());

  const auto second = client_->list(kServices, paged, soon());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault(), base::Fault::expired) << second.error().message();
  EXPECT_EQ(first_event(kServices, version - 3), "410 Expired");
}

// Kinds of custom resources have no messages: whoever asks for them gets JSON.
TEST_F(MessageTest, a_kind_without_messages_comes_in_json) {
  const kube::Resource definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions", false};
  create(definitions, R"({"metadata":{"name":"plains.message.example.com"},"spec":{"group":"message.example.com",
      "scope":"Namespaced","names":{"plural":"plains","kind":"Plain"},"versions":[{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  const kube::Resource plains{"message.example.com", "v1", "plains", true};
  EXPECT_TRUE(testbed::eventually("the kind is served", kBound, [&] {
    const auto body = client_->list(plains, {.selection = {.ns = ns_}, .token = "", .as_message = true}, soon());
    return body && !kube::is_message(*body);
  }));
  create(plains, R"({"apiVersion":"message.example.com/v1","kind":"Plain","metadata":{"name":"one"}})");
  // A kind that is new is served anew once or twice, and its watches end.
  EXPECT_TRUE(
      testbed::eventually("it is followed in JSON", kBound, [&] { return first_event(plains, 0) == "ADDED one"; }));
  ASSERT_OK(client_->remove(definitions, {"", "plains.message.example.com"}, {}, soon()));
}

// Services as a consumer follows them, through a proxy that does as it is told.
class FollowedMessages : public MessageTest, public testing::WithParamInterface<testbed::FaultProxy::Speaks> {
 protected:
  static kube::Config admin_config() {
    return must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }
  std::map<std::string, std::string> names() const {
    const auto view = services_.latest();
    std::map<std::string, std::string> out;
    for (const auto& object : view->objects) out[object->key.name] = object->uid;
    return out;
  }
  testing::AssertionResult follows() {
    std::map<std::string, std::string> wanted;
    for (const auto& [name, service] : listed(kServices, api::decode_service, false)) wanted[name] = service.meta.uid;
    return testbed::eventually("all Services, as they are", kBound, [&] { return names() == wanted; });
  }

  testbed::FaultProxy proxy_{admin_config().server, must(admin_config().tls()), "127.0.0.1", GetParam()};
  std::unique_ptr<kube::Client> through_ = connect(proxy_.kubeconfig());
  runtime::Signal changed_;
  kube::Reflector<api::Service> services_{
      *through_, kServices, api::decode_service, changed_, {.ns = ns_, .label_selector = "", .field_selector = ""}};
};

INSTANTIATE_TEST_SUITE_P(OverBoth, FollowedMessages,
                         testing::Values(testbed::FaultProxy::Speaks::http2, testbed::FaultProxy::Speaks::http1),
                         [](const auto& each) {
                           return each.param == testbed::FaultProxy::Speaks::http2 ? "http2" : "http1";
                         });

TEST_P(FollowedMessages, come_in_lists_streams_and_events_and_survive_faults) {
  EXPECT_TRUE(follows());
  for (const std::string name : {"a", "b", "c"}) ASSERT_OK(put_service(name, ""));
  EXPECT_TRUE(follows());
  ASSERT_OK(client_->remove(kServices, key("b"), {}, soon()));
  EXPECT_TRUE(follows());

  services_.list_again();  // By a stream, this time.
  EXPECT_TRUE(testbed::eventually("a second list", kBound, [&] { return services_.latest()->lists >= 2; }));
  EXPECT_TRUE(follows());

  const testbed::CallMatch watches{.verb = "watch", .resource = "services"};
  for (const testbed::Fault& fault : {testbed::Fault(fault::Duplicate()), testbed::Fault(fault::Reorder())}) {
    const int before = proxy_.calls(watches);
    proxy_.inject(watches, fault);
    proxy_.cut_all();
    EXPECT_TRUE(testbed::eventually("a watch that meets it", kBound, [&] { return proxy_.calls(watches) > before; }));
    for (const std::string name : {"a", "d", "e"}) {
      (void)client_->remove(kServices, key(name), {}, soon());
      ASSERT_OK(put_service(name, ""));
    }
    EXPECT_TRUE(follows());
  }
  EXPECT_EQ(services_.latest()->unknown.size(), 0U);
}

TEST_P(FollowedMessages, A6_a_deletion_that_was_never_told_is_found_by_the_next_list) {
  ASSERT_OK(put_service("a", ""));
  EXPECT_TRUE(follows());
  const testbed::CallMatch watches{.verb = "watch", .resource = "services"};
  const int before = proxy_.calls(watches);
  proxy_.inject(watches, fault::Omit{.type = "DELETED"}, {.skip = 0, .count = testbed::FaultProxy::kAlways});
  proxy_.cut_all();
  EXPECT_TRUE(testbed::eventually("a watch that meets it", kBound, [&] { return proxy_.calls(watches) > before; }));
  ASSERT_OK(client_->remove(kServices, key("a"), {}, soon()));
  ASSERT_OK(put_service("b", ""));
  EXPECT_TRUE(testbed::eventually("b", kBound, [&] { return names().contains("b"); }));
  EXPECT_TRUE(names().contains("a"));
  services_.list_again();
  EXPECT_TRUE(follows());
}

}  // namespace
}  // namespace api_test
