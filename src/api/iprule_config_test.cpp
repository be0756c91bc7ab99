#include "api/iprule_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace api {
namespace {

TEST(IPRuleConfig, spec_hash_is_the_old_projects_for_what_it_knows) {
  const auto hash = [](std::uint32_t table, std::uint32_t priority, const char* ip) {
    return spec_hash({.service_ip = ip, .table = table, .priority = priority, .state = ConfigState::present});
  };
  EXPECT_EQ(hash(100, 1000, "10.96.1.50"), "39a9616f5befa2f6712d282fa2b962ca19457b0a9d81f098b939cdd7d03a3790");
  EXPECT_EQ(hash(100, 0, "10.96.1.50"), "a4c44ec7ea218c94ec86931412e576c8d38cf01c263ff22ecc651cbdab1ea778");
  EXPECT_EQ(hash(100, 1000, "fd00::1"), "ec5c447af0d7afd3686fb5a16c22f028b493c0faf91d2bcbad8a382a6c865017");
}

TEST(IPRuleConfig, every_field_of_the_spec_changes_the_hash) {
  const IPRuleConfig::Spec plain{.service_ip = "10.96.1.50", .table = 100, .priority = 1000};
  std::vector<IPRuleConfig::Spec> others(11, plain);
  others[0].service_ip = "10.96.1.51";
  others[1].table = 101;
  others[2].priority = 0;
  others[3].state = ConfigState::absent;
  others[4].node_selector = {{"a", "b"}};
  others[5].vrf = "red";
  others[6].route_table = 7;
  others[7].source_mode = SourceMode::reply;
  others[8].prefer_main = true;
  others[9].source_ips = {{.address = "10.0.0.1"}};
  others[10].source_ips = {{.address = "10.0.0.1", .node_name = "n"}};
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(spec_hash(others[i]), spec_hash(plain)) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(spec_hash(others[i]), spec_hash(others[j])) << i << " " << j;
  }
}

TEST(IPRuleConfig, an_object_of_the_old_project_is_read) {
  json::Reader reader;
  const auto config = decode_iprule_config(*reader.parse(
      R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"IPRuleConfig",
          "metadata":{"name":"iprc-10-96-1-50","labels":{"managed-by":"ip-rule-operator"}},
          "spec":{"serviceIP":"10.96.1.50","table":100,"priority":1000,"state":"present"}})"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_TRUE(config->is_managed());
  EXPECT_EQ(config->spec.source_mode, SourceMode::cluster_ip);
}

TEST(IPRuleConfig, D25_numbers_out_of_range_are_none_and_the_object_is_read) {
  json::Reader reader;
  const auto read = [&](const char* numbers) {
    return decode_iprule_config(*reader.parse(fmt::format(
        R"({{"metadata":{{"name":"a"}},"spec":{{"serviceIP":"10.0.0.1",{},"state":"present"}}}})", numbers)));
  };
  const auto negative = read(R"("table":-5,"priority":1000)");
  ASSERT_TRUE(negative) << negative.error().message();
  EXPECT_EQ(negative->spec.table, 4294967295U) << "0 is what a VRF's object says";
  EXPECT_EQ(negative->spec.priority, 1000U);
  EXPECT_EQ(read(R"("table":4294967396)")->spec.table, 4294967295U) << "the kernel would take it for 100";
  EXPECT_EQ(read(R"("table":100,"priority":-1)")->spec.priority, 4294967295U) << "0 would be any";
  EXPECT_EQ(read(R"("table":"100")").error().message(), "spec.table: expected a number, found a string");
  EXPECT_EQ(read(R"("priority":1)").error().message(), "spec.table: required, expected a number");
}

TEST(IPRuleConfig, D36_an_unknown_state_is_an_error_not_a_withdrawal) {
  json::Reader reader;
  const auto config = decode_iprule_config(
      *reader.parse(R"({"metadata":{"name":"a"},"spec":{"serviceIP":"10.0.0.1","table":1,"state":"Present"}})"));
  EXPECT_EQ(config.error().message(), "spec.state: \"Present\" is none of present, absent");
}

TEST(IPRuleConfig, the_table_stands_in_one_of_two_fields) {
  EXPECT_EQ(table_of({.table = 100}), 100U);
  EXPECT_EQ(table_of({.table = 0, .route_table = 101}), 101U) << "no agent of the old project is to read it";
  EXPECT_EQ(table_of({.table = 0, .vrf = "red"}), 0U);
}

TEST(IPRuleConfig, what_is_written_can_be_read_again) {
  IPRuleConfig config;
  config.meta.name = "iprc-ep-0123456789-0";
  config.spec = {.service_ip = "10.96.1.50",
                 .table = 0,
                 .priority = 5,
                 .state = ConfigState::absent,
                 .node_selector = {{"a", "b"}},
                 .vrf = "red",
                 .route_table = 9,
                 .source_mode = SourceMode::local_endpoints,
                 .prefer_main = false,
                 .source_ips = {{.address = "10.0.0.1", .node_name = "n1"}, {.address = "10.0.0.2"}}};
  config.status = {
      .observed_generation = 2,
      .epoch = 41,
      .nodes = {{.node = "n1", .reason = "R", .message = "m", .last_transition = meta::Time(std::chrono::seconds(9))}},
      .conditions = {{.type = "Applied", .status = meta::Truth::no, .reason = "NodesFailing"}}};
  json::Reader reader;
  EXPECT_EQ(decode_iprule_config(*reader.parse(encode(config))).value(), config);
}

}  // namespace
}  // namespace api
