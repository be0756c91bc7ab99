// iprulectl over the objects of a cluster: how iprulectl reaches a cluster.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "questions.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace questions {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(Questions, kubectls_own_login_can_be_used) {
  const auto program = folder_ / "kubectl";
  ASSERT_TRUE(base::write_file(program, fmt::format("#!/bin/sh\necho $$ > '{0}/pid'; exec '{1}' kubectl \"$@\"\n",
                                                    folder_.path().native(), cluster().program().native())));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::filesystem::create_directory(folder_ / "tmp");
  const std::vector<std::string> environment = {"PATH=" + folder_.path().native() + ":/usr/bin:/bin",
                                                "TMPDIR=" + (folder_ / "tmp").native()};
  const auto through = [&](std::vector<std::string> words) {
    words.insert(words.begin(), IPRULECTL);
    words.insert(words.end(), {"--via", "kubectl", "--kubeconfig", cluster().admin_kubeconfig().native()});
    const auto done = testbed::run({.arguments = std::move(words), .environment = environment}, 60s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  };
  const auto done = through({"status", "--nodes", "-o", "name"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output, "node/worker-1\nnode/worker-2\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")) << "its socket is gone";
  const std::string pid = base::read_file(folder_ / "pid").value_or("");
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.find('\n')))) << "and so is it";
  EXPECT_THAT(through({"status", "--as", "nobody"}).output, HasSubstr("User \"nobody\" cannot list"));

  auto watch = testbed::Process::start({.arguments = {IPRULECTL, "status", "-w", "--via", "kubectl", "--kubeconfig",
                                                      cluster().admin_kubeconfig().native()},
                                        .environment = environment});
  ASSERT_TRUE(watch) << watch.error().message();
  ASSERT_TRUE(testbed::eventually("a first answer", 60s, [&] { return watch->output().contains("IPRules,"); }));
  watch->signal(SIGINT);
  const auto end = watch->wait_exit(20s);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->signal, SIGINT);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")) << "nothing is left behind";

  const auto none = testbed::run(
      {.arguments = {IPRULECTL, "status", "--via", "kubectl"}, .environment = {"PATH=" + (folder_ / "tmp").native()}},
      60s);
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(none->exit.code, 3);
  EXPECT_EQ(none->errors, "iprulectl: --via kubectl: kubectl: No such file or directory\n");
}

TEST_F(Questions, requests_are_told_to_who_wants_to_see_them) {
  EXPECT_THAT(ask({"drift", "-v", "6"}).errors, HasSubstr("/apis/api.operator.brtrm.dev/v1alpha1/nodestates"));
  EXPECT_EQ(ask({"drift"}).errors, "");
  const auto quiet = ask({"drift", "-q"});
  EXPECT_EQ(quiet.exit.code, 1);
  EXPECT_EQ(quiet.output, "");
}

}  // namespace
}  // namespace questions
