// What people, load balancers and later versions may write into objects: the object says what is wrong and what helps,
// and nothing else is disturbed. Rows D of tests/FAULTS.md; the kinds themselves are asked in tests/api.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "controller/behind_proxy.h"

namespace controller_test {
namespace {

using api::ConfigState;
using api_test::must;
using api_test::soon;
using testing::HasSubstr;

const kube::Resource kServiceKind{"", "v1", "services", true};

class BadInput : public ControllerBehindProxy {
 protected:
  // One node, one rule and one Service that nobody may disturb.
  void SetUp() override {
    script_.add_agent();
    script_.add_node("n1");
    put_rule(120);
    good_ = script_.put_service("good", "203.0.113.5");
    start();
    ASSERT_TRUE(becomes("published", [&] { return tables_of(good_) == std::vector<std::uint32_t>{120}; }));
  }
  void TearDown() override {
    EXPECT_EQ(tables_of(good_), std::vector<std::uint32_t>{120}) << "its sibling was disturbed";
    ControllerBehindProxy::TearDown();
  }

  // Of what is published and present for a source.
  std::vector<std::uint32_t> tables_of(const std::string& source) {
    std::vector<std::uint32_t> out;
    for (const api::IPRuleConfig& config : script_.configs()) {
      if (config.spec.service_ip == source && config.spec.state == ConfigState::present) {
        out.push_back(config.spec.table);
      }
    }
    std::ranges::sort(out);
    return out;
  }
  std::string message(const std::string& rule, const std::string& type) {
    const api::IPRule found = script_.rule(rule);
    const auto* condition = meta::find(found.status.conditions, type);
    return condition != nullptr ? condition->message : "";
  }
  testing::AssertionResult becomes_accepted(const std::string& rule, const std::string& verdict) {
    return becomes(fmt::format("{} is {}", rule, verdict),
                   [&] { return script_.condition(rule, "Accepted") == verdict; });
  }

  // Events stay for an hour: those of earlier tests are there, too.
  std::size_t events_of(std::string_view reason) {
    const std::string all = script_.events();
    std::size_t out = 0;
    for (auto at = all.find(reason); at != std::string::npos; at = all.find(reason, at + 1)) ++out;
    return out;
  }

  std::string good_;  // The ClusterIP of the Service that nobody may disturb.
};

TEST_F(BadInput, fault_D1_a_prefix_that_cannot_be_read_is_named_with_the_cure_and_its_siblings_count) {
  const std::array<const char*, 7> wrong = {"198.51.100.0/33", "198.51.100.7",   "010.0.0.1/8",    " 10.0.0.0/8",
                                            "198.51.100.0/08", "2001:db8::/129", "fe80::1%eth0/64"};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    script_.put_rule(fmt::format("wrong-{}", i), fmt::format(R"({{"cidrs":["{}"],"table":7}})", wrong.at(i)));
  }
  script_.put_rule("mixed", R"({"cidrs":["198.51.100.0/33","198.51.100.64/26"],"table":121})");
  const std::string source = script_.put_service("mixed", "198.51.100.70");
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const std::string name = fmt::format("wrong-{}", i);
    EXPECT_TRUE(becomes_accepted(name, "False InvalidCIDR"));
    EXPECT_THAT(message(name, "Accepted"), HasSubstr(wrong.at(i)));
  }
  EXPECT_THAT(message("wrong-1", "Accepted"), HasSubstr("198.51.100.7/32"));
  EXPECT_TRUE(becomes_accepted("mixed", "True PartiallyInvalid"));
  EXPECT_TRUE(becomes("the right one counts", [&] { return tables_of(source) == std::vector<std::uint32_t>{121}; }));
}

TEST_F(BadInput, fault_D1_host_bits_and_all_addresses_are_taken_as_they_are_meant) {
  script_.put_rule("bits", R"({"cidrs":["198.51.100.77/26"],"table":121})");
  script_.put_rule("all", R"({"cidrs":["0.0.0.0/0","::/0"],"table":122})");
  const std::string near = script_.put_service("near", "198.51.100.70");
  const std::string far = script_.put_service("far", "192.0.2.1");
  EXPECT_TRUE(becomes("the longer prefix", [&] { return tables_of(near) == std::vector<std::uint32_t>{121}; }));
  EXPECT_TRUE(becomes("the rest", [&] { return tables_of(far) == std::vector<std::uint32_t>{122}; }));
  EXPECT_TRUE(becomes(
      "canonical", [&] { return script_.rule("bits").status.cidrs == std::vector<std::string>{"198.51.100.64/26"}; }));
}

TEST_F(BadInput, fault_D2_one_priority_and_two_tables_end_alike_in_whatever_order_they_came) {
  const std::string source = script_.put_service("both", "198.51.100.70");
  must(script_.client().patch_status(
      kServiceKind, {"default", "both"}, kube::PatchType::merge,
      R"({"status":{"loadBalancer":{"ingress":[{"ip":"198.51.100.70"},{"ip":"192.0.2.70"}]}}})", soon()));
  const auto wide = [&] { script_.put_rule("wide", R"({"cidrs":["192.0.2.0/24"],"table":121,"priority":900})"); };
  const auto narrow = [&] {
    script_.put_rule("narrow", R"({"cidrs":["198.51.100.64/26"],"table":122,"priority":900})");
  };
  const auto ends = [&] {
    return becomes("the longer prefix has it, and the other says so", [&] {
      return tables_of(source) == std::vector<std::uint32_t>{122} &&
             script_.condition("wide", "Conflicted") == "True PriorityConflict" &&
             script_.condition("narrow", "Conflicted") == "False NoConflict";
    });
  };
  wide(), narrow();
  EXPECT_TRUE(ends());
  script_.delete_rule("wide");
  script_.delete_rule("narrow");
  ASSERT_TRUE(becomes("nothing is left of them", [&] { return tables_of(source).empty(); }));
  script_.report_all();
  narrow(), wide();
  EXPECT_TRUE(ends());
}

TEST_F(BadInput, fault_D3_priorities_at_their_limits_are_published_with_a_word_about_them) {
  struct Case {
    std::uint32_t priority;
    const char* word;
  };
  const std::array<Case, 6> cases = {{{0, "priority 32765 (default)"},
                                      {1, "before the rule for local where Cilium has moved that to 100"},
                                      {100, "100 is where Cilium keeps the rule for local"},
                                      {1536, "1536 is where the AWS VPC CNI leads what pods send"},
                                      {32766, "priority 32766"},
                                      {4294967295U, "priority 4294967295"}}};
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = fmt::format("p{}", cases.at(i).priority);
    script_.put_rule(
        name, fmt::format(R"({{"cidrs":["198.51.100.{}/32"],"table":121,"priority":{}}})", i, cases.at(i).priority));
    sources.push_back(script_.put_service(name, fmt::format("198.51.100.{}", i)));
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = fmt::format("p{}", cases.at(i).priority);
    EXPECT_TRUE(becomes("published", [&] { return tables_of(sources[i]) == std::vector<std::uint32_t>{121}; })) << name;
    EXPECT_TRUE(becomes_accepted(name, "True Valid"));
    EXPECT_THAT(message(name, "Accepted"), HasSubstr(cases.at(i).word));
  }
  for (const char* name : {"p32766", "p4294967295"}) {
    EXPECT_TRUE(becomes("it cannot work, and says so", [&] {
      return script_.condition(name, "Effective") == "False PriorityAfterMain";
    })) << name;
  }
}

TEST_F(BadInput, fault_D4_table_0_is_never_published_and_the_kernels_own_with_a_warning) {
  for (const std::uint32_t table : {0U, 253U, 254U, 255U, 2147483648U, 4294967295U}) {
    const std::string name = fmt::format("t{}", table);
    script_.put_rule(name, fmt::format(R"({{"cidrs":["198.51.100.{}/32"],"table":{}}})", table % 251, table));
    const std::string source = script_.put_service(name, fmt::format("198.51.100.{}", table % 251));
    if (table == 0) {
      EXPECT_TRUE(becomes_accepted(name, "False TableUnset"));
      EXPECT_TRUE(tables_of(source).empty());
      continue;
    }
    EXPECT_TRUE(becomes("published", [&] { return tables_of(source) == std::vector{table}; })) << name;
    EXPECT_TRUE(becomes_accepted(name, "True Valid"));
    EXPECT_EQ(message(name, "Accepted").contains("is where the kernel keeps"), table <= 255) << name;
  }
  EXPECT_TRUE(becomes("an event", [&] { return script_.events().contains(R"("name":"t254")"); }));
}

TEST_F(BadInput, fault_D8_what_becomes_of_a_service_becomes_of_its_rule) {
  put_rule(120, R"(,"source":{"modes":["ClusterIP"]})");
  const std::string first = script_.put_service("first", "203.0.113.7");
  const std::string second = script_.put_service("second", "203.0.113.7");  // Behind the same address.
  const std::vector<std::uint32_t> steered = {120};
  EXPECT_TRUE(becomes("both", [&] { return tables_of(first) == steered && tables_of(second) == steered; }));

  // No load balancer any more, whatever its status still shows; then one again, with another ClusterIP.
  const auto change = [&](const std::string& patch) {
    must(script_.client().patch(kServiceKind, {"default", "first"}, kube::PatchType::merge, patch, soon()));
  };
  change(R"({"spec":{"type":"ExternalName","externalName":"example.org","clusterIP":null,"clusterIPs":null}})");
  EXPECT_TRUE(becomes("withdrawn", [&] { return tables_of(first).empty(); }));
  EXPECT_EQ(tables_of(second), steered);
  change(R"({"spec":{"type":"LoadBalancer","externalName":null,"clusterIP":"10.96.200.200"}})");
  script_.put_service("first", "203.0.113.7");
  EXPECT_TRUE(becomes("its new address", [&] { return tables_of("10.96.200.200") == steered; }));
  if (first != "10.96.200.200") {
    EXPECT_TRUE(tables_of(first).empty());
  }

  // Its address goes; a name instead of one is told.
  const std::size_t before = events_of("HostnameOnlyIngress");
  must(script_.client().patch_status(kServiceKind, {"default", "first"}, kube::PatchType::merge,
                                     R"({"status":{"loadBalancer":{"ingress":[{"hostname":"lb.example"}]}}})", soon()));
  EXPECT_TRUE(becomes("withdrawn", [&] { return tables_of("10.96.200.200").empty(); }));
  EXPECT_TRUE(becomes("told", [&] { return events_of("HostnameOnlyIngress") > before; }));
}

TEST_F(BadInput, fault_D9_names_at_their_limits_are_published_reported_and_told) {
  const auto long_name = [](char letter, std::size_t length) {
    std::string out(length, letter);
    for (std::size_t i = 63; i < length; i += 64) out[i] = '.';  // Parts of at most 63.
    return out;
  };
  const std::string node = long_name('n', 253);
  const std::string rule = long_name('r', 253);
  script_.add_node(node);
  script_.put_rule(rule, R"({"cidrs":["198.51.100.0/24","198.51.100.0/33"],"table":121,"priority":900,
                             "nodeSelector":{"a.b/)" +
                             std::string(63, 'k') + R"(":")" + std::string(63, 'v') + R"("}})");
  const std::string source = script_.put_service(std::string(63, 's'), "198.51.100.7");
  EXPECT_TRUE(becomes("published", [&] { return tables_of(source) == std::vector<std::uint32_t>{121}; }));
  EXPECT_TRUE(becomes("asked for its report", [&] {
    return std::ranges::any_of(script_.states(), [&](const auto& state) { return state.meta.name == node; });
  }));
  EXPECT_TRUE(becomes_accepted(rule, "True PartiallyInvalid"));
  EXPECT_TRUE(becomes("told", [&] { return script_.events().contains(rule); }));
}

// A later version may know more; until it can be read it may be the reason for any rule.
TEST_F(BadInput, fault_D10_a_word_of_a_later_version_withdraws_nothing) {
  testbed::Cluster& cluster = testbed::shared_cluster();
  const std::string path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/source/properties/modes";
  must(cluster.kubectl({"patch", "crd", "iprules.api.operator.brtrm.dev", "--type=json", "-p",
                        fmt::format(R"([{{"op":"add","path":"{}/items/enum/-","value":"Future"}}])", path)}));
  const std::string other = script_.put_service("other", "203.0.113.6");
  EXPECT_TRUE(becomes("published", [&] { return tables_of(other) == std::vector<std::uint32_t>{120}; }));
  const auto put = [&] {
    return script_.client().patch(
        {std::string(api::kGroup), std::string(api::kVersion), "iprules", false}, {"", "later"}, kube::PatchType::apply,
        fmt::format(R"({{"apiVersion":"{}","kind":"IPRule","metadata":{{"name":"later"}},)"
                    R"("spec":{{"cidrs":["198.51.100.0/24"],"table":121,"source":{{"modes":["Future"]}}}}}})",
                    api::kApiVersion),
        soon());
  };
  EXPECT_TRUE(becomes("the server takes it", [&] { return put().has_value(); }));
  EXPECT_TRUE(becomes("told", [&] { return script_.events().contains(R"("name":"later")"); }));
  script_.delete_service("other");
  const std::string third = script_.put_service("third", "203.0.113.8");
  EXPECT_TRUE(becomes("what is new is published", [&] { return tables_of(third) == std::vector<std::uint32_t>{120}; }));
  EXPECT_EQ(tables_of(other), std::vector<std::uint32_t>{120}) << "nothing is withdrawn meanwhile";
  put_rule(122);
  EXPECT_TRUE(becomes("it waits", [&] { return script_.condition("blue", "Programmed") == "False NotPublished"; }));
  EXPECT_EQ(tables_of(good_), std::vector<std::uint32_t>{120}) << "nor does anything stand beside what may be its own";
  put_rule(120);

  script_.delete_rule("later");
  EXPECT_TRUE(becomes("then it is", [&] { return tables_of(other).empty(); }));
  must(cluster.kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"}));
}

// Those of the old project have the same names: who has both in one repository may apply them last.
TEST_F(BadInput, fault_D10_what_an_older_kind_would_lose_is_not_written_until_the_kind_is_there) {
  testbed::Cluster& cluster = testbed::shared_cluster();
  const std::string mode = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/sourceMode";
  must(cluster.kubectl({"patch", "crd", "ipruleconfigs.api.operator.brtrm.dev", "--type=json", "-p",
                        fmt::format(R"([{{"op":"remove","path":"{}"}}])", mode)}));
  const kube::Resource kind{std::string(api::kGroup), std::string(api::kVersion), "ipruleconfigs", false};
  const std::string probe =
      fmt::format(R"({{"apiVersion":"{}","kind":"IPRuleConfig","metadata":{{"name":"probe"}},)"
                  R"("spec":{{"serviceIP":"10.96.9.9","table":7,"state":"present","sourceMode":"Reply"}}}})",
                  api::kApiVersion);
  ASSERT_TRUE(becomes("the older kind is in force", [&] {
    const auto made = script_.client().create(kind, "", probe, soon());
    if (made) must(script_.client().remove(kind, {"", "probe"}, {}, soon()));
    return made && !made->contains("Reply");
  }));

  const std::size_t before = script_.configs().size();
  script_.put_rule("replies", R"({"cidrs":["198.51.100.0/24"],"table":121,"source":{"modes":["Reply"]}})");
  script_.put_service("replies", "198.51.100.7");
  EXPECT_TRUE(becomes("told", [&] { return script_.condition("replies", "Programmed") == "False NotPublished"; }));
  EXPECT_THAT(message("replies", "Programmed"), HasSubstr("apply the CustomResourceDefinitions of this version"));
  EXPECT_THAT(message("replies", "Programmed"), HasSubstr("spec.sourceMode"));
  EXPECT_EQ(script_.configs().size(), before) << "and not made again and again";

  must(cluster.kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"}));
  EXPECT_TRUE(becomes("published", [&] {
    return std::ranges::any_of(script_.configs(), [](const api::IPRuleConfig& config) {
      return config.spec.service_ip == "198.51.100.7" && config.spec.source_mode == api::SourceMode::reply;
    });
  }));
  EXPECT_EQ(script_.configs().size(), before + 1);
}

}  // namespace
}  // namespace controller_test
