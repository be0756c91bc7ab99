// The names that people and pipelines of the old project type after `make`, asked without doing anything.
#include <chrono>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of both generations, but for the bundle, the catalog and images of other architectures.
constexpr const char* kOldTargets =
    "help manifests generate fmt vet lint lint-fix lint-config test setup-test-e2e test-e2e cleanup-test-e2e "
    "build build-agent build-all agent-build run run-agent build-installer install uninstall deploy undeploy "
    "docker-build docker-build-agent docker-build-all agent-image-build "
    "docker-push docker-push-agent docker-push-all agent-image-push";

testbed::Finished asked_to_make(const std::string& target) {
  const testbed::Command command{
      .arguments = {"make", "--dry-run", "--no-print-directory", "-C", kSource.native(), target},
      .environment = {"LC_ALL=C"}};
  return must(testbed::run(command, std::chrono::minutes(1)));
}

TEST(Make, R14_every_target_of_the_old_project_is_known) {
  std::istringstream targets(kOldTargets);
  for (std::string target; targets >> target;) {
    const testbed::Finished done = asked_to_make(target);
    EXPECT_TRUE(done.exit.ok()) << target << ": " << done.errors;
    // What make says of a folder that happens to have the name.
    EXPECT_THAT(done.output, Not(HasSubstr("Nothing to be done"))) << target;
  }
  EXPECT_FALSE(asked_to_make("no-such-target").exit.ok());
}

TEST(Make, what_it_made_before_is_made_under_a_name_of_its_own_where_the_name_means_something_else) {
  EXPECT_THAT(asked_to_make("run").output, HasSubstr("iprulectl lab"));
  EXPECT_THAT(asked_to_make("run-controller").output, HasSubstr("build/dev/apps/iprule-controller"));
}

}  // namespace
}  // namespace install_test
