// What the controller decided on an old view of an object, the server refuses: every write names the state it was
// decided on.
#include "controller/config_writer.h"

#include <gmock/gmock.h>

#include "api/api.h"
#include "controller/cluster_script.h"
#include "testbed/eventually.h"

namespace controller_test {
namespace {

using Step = intent::Write::Step;

TEST(ConfigWriterTest, D18_what_was_decided_before_the_object_changed_is_refused) {
  ClusterScript script;
  controller::ConfigWriter writer(script.client(), script.client(), std::chrono::seconds(30));
  api::IPRuleConfig made;
  made.meta.name = "iprc-10-96-88-1";
  made.spec = {.service_ip = "10.96.88.1", .table = 120, .priority = 1500};
  ASSERT_TRUE(writer.write({.step = Step::create, .object = made}, {}));
  const auto seen = script.config(made.meta.name);
  ASSERT_TRUE(seen);
  script.patch_config(made.meta.name, R"({"metadata":{"annotations":{"changed":"meanwhile"}}})");

  for (const Step step : {Step::remove, Step::withdraw, Step::repair}) {
    const auto written = writer.write({.step = step, .object = *seen}, {});
    ASSERT_FALSE(written) << intent::text(step);
    EXPECT_EQ(written.error().fault(), base::Fault::conflict) << written.error().message();
  }
  EXPECT_TRUE(script.config(made.meta.name)) << "it is still there";
  EXPECT_FALSE(writer.write({.step = Step::create, .object = made}, {})) << "and not made a second time";

  const auto now = script.config(made.meta.name);
  EXPECT_TRUE(writer.write({.step = Step::remove, .object = *now}, {}));
  EXPECT_FALSE(script.config(made.meta.name));
}

TEST(ConfigWriterTest, fault_D10_a_change_of_which_an_older_kind_would_lose_a_part_is_refused) {
  ClusterScript script;
  testbed::Cluster& cluster = testbed::shared_cluster();
  controller::ConfigWriter writer(script.client(), script.client(), std::chrono::seconds(30));
  api::IPRuleConfig made;
  made.meta.name = "iprc-10-96-88-2";
  made.spec = {.service_ip = "10.96.88.2", .table = 120, .priority = 1500};
  ASSERT_TRUE(writer.write({.step = Step::create, .object = made}, {}));
  api_test::must(cluster.kubectl(
      {"patch", "crd", "ipruleconfigs.api.operator.brtrm.dev", "--type=json", "-p",
       R"([{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/sourceIPs"}])"}));
  std::string error;
  EXPECT_TRUE(testbed::eventually("refused, once the older kind is in force", api_test::kBound, [&] {
    auto changed = script.config(made.meta.name);
    changed->spec.source_ips = {{.address = "10.244.0.1", .node_name = "n1"}};
    const auto written = writer.write({.step = Step::repair, .object = *changed}, {});
    if (!written) error = written.error().message();
    return !written && written.error().fault() == base::Fault::invalid;
  }));
  EXPECT_THAT(error, testing::HasSubstr("spec.sourceIPs"));
  EXPECT_THAT(error, testing::HasSubstr("apply the CustomResourceDefinitions of this version"));
  api_test::must(cluster.kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"}));
}

}  // namespace
}  // namespace controller_test
