// Sources that are a Service's endpoints: published from EndpointSlices, which are followed only while a rule asks.
#include <algorithm>
#include <vector>

#include "controller/behind_proxy.h"

namespace controller_test {
namespace {

const kube::Resource kSlices{"discovery.k8s.io", "v1", "endpointslices", true};

struct Endpoint {
  std::string address;
  std::string node;
  bool is_ready = true;
};

class EndpointSources : public ControllerBehindProxy {
 protected:
  void TearDown() override {
    for (const std::string& name : slices_) {
      (void)script_.client().remove(kSlices, {"default", name}, {}, api_test::soon());  // It may be gone.
    }
    ControllerBehindProxy::TearDown();
  }

  void put_slice(const std::string& name, const std::string& service, const std::vector<Endpoint>& endpoints) {
    std::string list;
    for (const Endpoint& one : endpoints) {
      list += fmt::format(R"({}{{"addresses":["{}"],"nodeName":"{}","conditions":{{"ready":{}}}}})",
                          list.empty() ? "" : ",", one.address, one.node, one.is_ready);
    }
    api_test::must(script_.client().patch(
        kSlices, {"default", name}, kube::PatchType::apply,
        fmt::format(R"({{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{{"name":"{}",)"
                    R"("labels":{{"kubernetes.io/service-name":"{}"}}}},"addressType":"IPv4","endpoints":[{}]}})",
                    name, service, list),
        api_test::soon()));
    slices_.push_back(name);
  }
  // Of every object for this table; with the node where only that one is to have it.
  std::vector<std::string> sources(std::uint32_t table = 120) {
    std::vector<std::string> out;
    for (const api::IPRuleConfig& config : script_.configs()) {
      if (config.spec.route_table != table || config.spec.state != api::ConfigState::present) continue;
      for (const auto& source : config.spec.source_ips) {
        out.push_back(source.address + (source.node_name.empty() ? "" : " on " + source.node_name));
      }
    }
    std::ranges::sort(out);
    return out;
  }
  testing::AssertionResult become(std::vector<std::string> wanted, std::uint32_t table = 120) {
    return becomes("the sources", [&] { return sources(table) == wanted; });
  }

  std::vector<std::string> slices_;
};

TEST_F(EndpointSources, an_address_of_two_services_goes_to_one_table_and_the_other_rule_says_so) {
  script_.put_rule("blue", R"({"cidrs":["203.0.113.0/24"],"table":120,"priority":1500,
                               "source":{"modes":["Endpoints"]}})");
  script_.put_rule("green", R"({"cidrs":["198.51.100.0/28"],"table":121,"priority":1500,
                                "source":{"modes":["Endpoints"]}})");
  script_.put_service("web", "203.0.113.5");
  script_.put_service("shop", "198.51.100.5");
  put_slice("web-a", "web", {{"10.244.1.5", "n1"}, {"10.244.1.6", "n1"}});
  put_slice("shop-a", "shop", {{"10.244.1.6", "n1"}, {"10.244.1.7", "n1"}});
  start();
  EXPECT_TRUE(become({"10.244.1.6", "10.244.1.7"}, 121)) << "the longer prefix has it";
  EXPECT_TRUE(become({"10.244.1.5"}, 120));
  EXPECT_TRUE(
      becomes("the loser says so", [&] { return script_.condition("blue", "Conflicted") == "True PriorityConflict"; }));
}

}  // namespace
}  // namespace controller_test
