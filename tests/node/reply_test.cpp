// Real packets through real nodes: kubelet's pods, kube-proxy's translation, and replies counted at the uplinks.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "real_node.h"
#include "testbed/eventually.h"

namespace node_test {
namespace {

using testbed::eventually;

class RealNodeReply : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(install());
    ASSERT_NO_FATAL_FAILURE(publish_services());
  }

  static constexpr lab::UplinkCount kWrong{.eth0 = kRequests, .eth1 = 0};
  static constexpr lab::UplinkCount kRight{.eth0 = 0, .eth1 = kRequests};
};

// The first Service's pods have the pod network, the second's the host's: their replies take different ways through
// the node, and both must be found.
TEST_F(RealNodeReply, replies_of_pods_and_of_host_processes_leave_by_the_uplink_their_requests_came_by) {
  for (std::size_t node = 0; node < nodes().size(); ++node) {
    for (const net::Family family : {net::Family::v4, net::Family::v6}) {
      const auto where = fmt::format("{}, {}", nodes()[node]->name(), net::text(family));
      ASSERT_TRUE(becomes_answered(node, family)) << where;
      const lab::Tally tally = ask(node, family);
      EXPECT_EQ(tally.requests_in, kRight) << where;
      EXPECT_EQ(tally.replies_out, kRight) << where;
      EXPECT_EQ(tally.answered, kRequests) << where;
    }
  }
  // Without the rule the same requests are answered into the wrong uplink: it is the rule that does it.
  kubectl({"delete", "iprule", "public-eu"});
  for (std::size_t node = 0; node < nodes().size(); ++node) {
    ASSERT_TRUE(eventually("no mark is left", kBound, [&] { return marks(*nodes()[node]).empty(); }));
    for (const net::Family family : {net::Family::v4, net::Family::v6}) {
      EXPECT_EQ(ask(node, family).replies_out, kWrong) << nodes()[node]->name() << ", " << net::text(family);
    }
  }
}

}  // namespace
}  // namespace node_test
