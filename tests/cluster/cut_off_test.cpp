// A node that the cluster does not reach for long. What a day would change is done in a moment: the history that it
// could go on from is forgotten, and the server that it spoke to has ended.
#include <gmock/gmock.h>

#include "at_work.h"
#include "lab/wiring.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CutOff : public AtWork {};

TEST_F(CutOff, E7_a_node_cut_off_for_long_keeps_routing_is_named_and_comes_back_without_a_flap) {
  const Worker& near = add_worker("worker-1");
  Worker& far = add_worker("worker-2");
  put_rule("public-eu", "203.0.113.0/24", 100);
  const std::string kept = put_service("kept", "203.0.113.1");
  const std::string removed = put_service("removed", "203.0.113.2");
  for (const Worker* worker : {&near, static_cast<const Worker*>(&far)}) {
    ASSERT_TRUE(appears(*worker, kept));
    ASSERT_TRUE(appears(*worker, removed));
  }
  ASSERT_TRUE(eventually("both have reported", kBound, [&] {
    return kubectl({"get", "iprule", "public-eu", "-o",
                    R"(jsonpath={.status.conditions[?(@.type=="Programmed")].reason})"}) == "AllNodes";
  }));

  ASSERT_TRUE(lab::set_up(far.host->rtnl(), "mgmt", false));
  delete_service("removed");
  const std::string added = put_service("added", "203.0.113.3");
  EXPECT_TRUE(appears(near, added));
  EXPECT_TRUE(goes(near, removed));
  EXPECT_TRUE(eventually("the removal names the node", kBound, [&] {
    return kubectl({"get", "ipruleconfigs", "-o",
                    R"(jsonpath={.items[*].status.conditions[?(@.type=="CleanedUp")].message})"})
        .contains("waiting for: worker-2");
  }));
  EXPECT_THAT(published(), HasSubstr(removed)) << "it is not forgotten before that node has let go";
  ip(far, {"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(appears(far, kept)) << "it still repairs";
  EXPECT_TRUE(appears(far, removed)) << "and routes as it knows";

  ASSERT_TRUE(install::cluster().compact());
  ASSERT_TRUE(install::cluster().api_server().restart());
  const testbed::Process& changes = watch_rules(far);
  ASSERT_TRUE(lab::set_up(far.host->rtnl(), "mgmt", true));
  EXPECT_TRUE(appears(far, added, 100, kRecovery));
  EXPECT_TRUE(goes(far, removed, kRecovery));
  EXPECT_TRUE(has(far, kept, 100));
  EXPECT_THAT(changes.output(), Not(HasSubstr(kept))) << "what stayed right was never touched";
  EXPECT_TRUE(eventually("the removal is settled", kRecovery, [&] { return !published().contains(removed); }));
}

}  // namespace
}  // namespace cluster_test
