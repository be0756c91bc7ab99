// Sources that are a Service's endpoints, from EndpointSlices to the kernels of two nodes.
#include <gmock/gmock.h>

#include "at_work.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class EndpointRules : public AtWork {
 protected:
  void SetUp() override {
    AtWork::SetUp();
    one_ = &add_worker("worker-1");
    two_ = &add_worker("worker-2");
  }

  struct Endpoint {
    std::string address;
    std::string node;
    bool is_ready = true;
  };
  static void put_slice(const std::string& service, const std::vector<Endpoint>& endpoints) {
    std::string list;
    for (const Endpoint& one : endpoints) {
      list += fmt::format("\n- {{addresses: [{}], nodeName: {}, conditions: {{ready: {}}}}}", one.address, one.node,
                          one.is_ready);
    }
    kubectl({"apply", "-f", "-"},
            fmt::format("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\naddressType: IPv4\n"
                        "metadata: {{name: {0}-a, namespace: default, labels: {{test: slice, "
                        "kubernetes.io/service-name: {0}}}}}\nendpoints:{1}\n",
                        service, list.empty() ? " []" : list));
  }
  static std::string modes(const std::string& mode) { return fmt::format(", source: {{modes: [{}]}}", mode); }

  Worker* one_ = nullptr;
  Worker* two_ = nullptr;
};

TEST_F(EndpointRules, every_ready_endpoint_is_steered_on_every_node_until_it_goes) {
  put_rule("blue", "203.0.113.0/24", 120, modes("Endpoints"));
  put_service("web", "203.0.113.5");
  put_slice("web", {{"10.244.1.5", "worker-1"}, {"10.244.2.5", "worker-2"}, {"10.244.2.6", "worker-2", false}});
  for (const Worker* worker : {one_, two_}) {
    EXPECT_TRUE(appears(*worker, "10.244.1.5", 120));
    EXPECT_TRUE(appears(*worker, "10.244.2.5", 120));
    EXPECT_THAT(rules(*worker), Not(HasSubstr("10.244.2.6"))) << "it is not ready";
  }
  const testbed::Process& changes = watch_rules(*one_);
  put_slice("web", {{"10.244.2.5", "worker-2"}, {"10.244.2.6", "worker-2"}});
  for (const Worker* worker : {one_, two_}) {
    EXPECT_TRUE(appears(*worker, "10.244.2.6", 120));
    EXPECT_TRUE(goes(*worker, "10.244.1.5"));
    EXPECT_TRUE(has(*worker, "10.244.2.5", 120));
  }
  EXPECT_THAT(changes.output(), Not(HasSubstr("10.244.2.5"))) << "the one that stayed was let be";
  delete_service("web");
  for (const Worker* worker : {one_, two_}) {
    EXPECT_TRUE(eventually("none is left", kBound, [&] { return !rules(*worker).contains("proto 183"); }));
  }
}

TEST_F(EndpointRules, local_endpoints_are_steered_on_their_own_node_only) {
  put_rule("blue", "203.0.113.0/24", 120, modes("LocalEndpoints"));
  put_service("web", "203.0.113.5");
  put_slice("web", {{"10.244.1.5", "worker-1"}, {"10.244.2.5", "worker-2"}});
  EXPECT_TRUE(appears(*one_, "10.244.1.5", 120));
  EXPECT_TRUE(appears(*two_, "10.244.2.5", 120));
  EXPECT_THAT(rules(*one_), Not(HasSubstr("10.244.2.5")));
  EXPECT_THAT(rules(*two_), Not(HasSubstr("10.244.1.5")));

  // A pod of the same address on another node, as when it was made anew there.
  put_slice("web", {{"10.244.1.5", "worker-2"}, {"10.244.2.5", "worker-2"}});
  EXPECT_TRUE(appears(*two_, "10.244.1.5", 120));
  EXPECT_TRUE(goes(*one_, "10.244.1.5"));
}

TEST_F(EndpointRules, an_address_of_two_services_has_one_table_on_every_node_and_then_the_others) {
  put_rule("blue", "203.0.113.0/24", 120, modes("Endpoints"));
  put_rule("green", "198.51.100.0/28", 121, modes("Endpoints"));
  put_service("web", "203.0.113.5");
  put_service("shop", "198.51.100.5");
  put_slice("web", {{"10.244.1.5", "worker-1"}, {"10.244.1.6", "worker-1"}});
  put_slice("shop", {{"10.244.1.6", "worker-1"}});
  for (const Worker* worker : {one_, two_}) {
    EXPECT_TRUE(appears(*worker, "10.244.1.6", 121)) << "the longer prefix has it";
    EXPECT_TRUE(appears(*worker, "10.244.1.5", 120));
    EXPECT_TRUE(eventually("it has one table", kBound, [&] { return !has(*worker, "10.244.1.6", 120); }));
  }
  delete_service("shop");
  for (const Worker* worker : {one_, two_}) {
    EXPECT_TRUE(appears(*worker, "10.244.1.6", 120));
    EXPECT_TRUE(eventually("and not two", kBound, [&] { return !has(*worker, "10.244.1.6", 121); }));
  }
}

}  // namespace
}  // namespace cluster_test
