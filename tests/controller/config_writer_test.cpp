// What the controller decided on an old view of an object, the server refuses: every write names the state it was
// decided on.
#include "controller/config_writer.h"

#include <gtest/gtest.h>

#include "api/api.h"
#include "controller/cluster_script.h"

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

}  // namespace
}  // namespace controller_test
