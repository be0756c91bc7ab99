// The page for somebody who has a cluster and has never seen this, typed as it stands.
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "real_node.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"
#include "tests/programs/document.h"

namespace node_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kPage = kSource / "docs/how-to/first-minutes.md";

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
  std::string type(std::string command) {
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
  const auto text = base::read_file(kPage);
  ASSERT_TRUE(text) << text.error().message();
  Document page = Document::parse(*text);
  bool same = true;
  for (Document::Piece& piece : page.pieces()) {
    if (piece.kind == Document::Piece::Kind::file) {
      ASSERT_TRUE(base::write_file(folder_ / piece.head, piece.body));
    }
    if (piece.kind != Document::Piece::Kind::command) continue;
    if (piece.head.starts_with("kubectl delete iprule")) {
      EXPECT_TRUE(becomes_answered(0, net::Family::v4));
    }
    const std::string printed = type(piece.head);
    if (tells_truly(piece.body, printed)) continue;
    same = false;
    ADD_FAILURE() << "`" << piece.head << "` printed\n" << printed << "but the page shows\n" << piece.body;
    piece.body = printed;
  }
  for (const auto& node : nodes()) EXPECT_THAT(rules(*node), Not(HasSubstr("proto 183")));
  const char* update = std::getenv("IPRULE_UPDATE_PAGES");
  if (!same && update != nullptr && std::string_view(update) == "1") {
    ASSERT_TRUE(base::write_file(kPage, page.text()));
  }
}

}  // namespace
}  // namespace node_test
