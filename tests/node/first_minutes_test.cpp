// The page for somebody who has a cluster and has never seen this, typed as it stands.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "real_node.h"
#include "testbed/page.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace node_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RealNodeFirstMinutes : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    withdraw_services();
    uninstall();
    publish_service(0);
    for (const char* name : {"config", "dist", "Makefile", ".ci", "VERSION"}) {
      std::filesystem::create_symlink(kSource / name, folder_ / name);
    }
    std::filesystem::create_directory(folder_ / "bin");
    std::filesystem::create_symlink(IPRULECTL, folder_ / "bin/iprulectl");
    const auto kubectl = folder_ / "bin/kubectl";
    ASSERT_TRUE(
        base::write_file(kubectl, fmt::format("#!/bin/sh\nexec '{}' kubectl \"$@\"\n", cluster_->program().native())));
    std::filesystem::permissions(kubectl, std::filesystem::perms::owner_all);
  }
  void TearDown() override {
    RealNode::TearDown();
    if (IsSkipped() || cluster_ == nullptr) return;
    withdraw_services();
    (void)cluster_->kubectl({"delete", "-f", (kSource / "config/crd/bases").native(), "--ignore-not-found"});
  }

  // Both outputs, as on a terminal. There is no registry here: the nodes have the images already.
  std::string type_there(std::string command) {
    if (const auto at = command.find("REGISTRY="); at != std::string::npos) {
      command.erase(at, command.find(' ', at) - at);
    }
    const auto done = testbed::run(
        {.arguments = {"bash", "-c",
                       fmt::format("cd '{0}' && PATH='{0}/bin':$PATH && ({1}) 2>&1", folder_.path().native(), command)},
         .environment = {"KUBECONFIG=" + cluster_->admin_kubeconfig().native()}},
        kBound * 4);
    EXPECT_TRUE(done) << done.error().message();
    return done ? done->output : "";
  }

  testbed::TempFolder folder_;
};

TEST_F(RealNodeFirstMinutes, the_page_leads_from_nothing_to_the_right_uplink_and_back) {
  const std::size_t commands =
      testbed::try_out(kSource / "docs/how-to/first-minutes.md",
                       {.write = [&](const std::string& name,
                                     const std::string& text) { ASSERT_TRUE(base::write_file(folder_ / name, text)); },
                        .type =
                            [&](const std::string& command) {
                              if (command.starts_with("kubectl delete iprule")) {
                                EXPECT_TRUE(becomes_answered(0, net::Family::v4));
                              }
                              return type_there(command);
                            }});
  EXPECT_GT(commands, 0U);
  for (const auto& node : nodes()) EXPECT_THAT(rules(*node), Not(HasSubstr("proto 183")));
}

}  // namespace
}  // namespace node_test
