#include "api/daemon_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace api {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DaemonSet, what_is_written_can_be_read_again) {
  DaemonSet set;
  set.meta.name = "iprule-agent";
  set.meta.ns = "system";
  set.spec.update_strategy = {.type = "RollingUpdate", .rolling_update = {.max_unavailable = {"1"}}};
  set.spec.pod.spec.containers.push_back(
      {.name = "agent",
       .env = {{.name = "NODE_NAME", .value_from = {.field_ref = {"spec.nodeName"}}}, {.name = "METRICS_ADDR"}},
       .ports = {{.name = "metrics", .container_port = 9090, .protocol = "TCP"}},
       .liveness = DaemonSet::Probe{.http_get = {.path = "/health", .port = {"metrics"}}, .period = 30},
       .mounts = {{.name = "account", .path = "/account", .read_only = true}}});
  set.spec.pod.spec.automount_token = false;
  set.spec.pod.spec.volumes = {
      {.name = "account",
       .projected = {.sources = {{.token = TokenProjection{.path = "token", .expiration = 3600}},
                                 {.config_map = ConfigMapProjection{.name = "ca", .items = {{"ca.crt", "ca.crt"}}}},
                                 {.pod = PodFields{.items = {{"namespace", {"metadata.namespace"}}}}}}}}};
  json::Reader reader;
  EXPECT_EQ(decode_daemon_set(*reader.parse(encode(set))).value(), set);
}

TEST(DaemonSet, selectors_are_written_even_when_empty_and_numbers_as_numbers) {
  DaemonSet set;
  set.spec.pod.spec.host_network = true;
  set.spec.update_strategy.rolling_update.max_unavailable = {"1"};
  const std::string text = encode(set);
  EXPECT_THAT(text, HasSubstr(R"("nodeSelector":{},"tolerations":[])"));
  EXPECT_THAT(text, HasSubstr(R"("maxUnavailable":1)"));
  EXPECT_THAT(text, Not(HasSubstr("status")));
}

// Whatever somebody else made of it must still be readable: else it could not be put right.
TEST(DaemonSet, percentages_and_numbered_ports_of_others_are_read) {
  json::Reader reader;
  const auto set = decode_daemon_set(*reader.parse(R"({"metadata":{"name":"iprule-agent"},"spec":{
      "updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%"}},
      "template":{"spec":{"containers":[{"name":"agent","livenessProbe":{"httpGet":{"port":9090}}}]}}}})"));
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(set->spec.update_strategy.rolling_update.max_unavailable.text, "10%");
  EXPECT_EQ(set->spec.pod.spec.containers.at(0).liveness->http_get.port.text, "9090");
}

}  // namespace
}  // namespace api
