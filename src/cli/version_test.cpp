#include "cli/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"

namespace cli {
namespace {

using testing::HasSubstr;

TEST(Version, an_images_tag_tells_the_release) {
  EXPECT_EQ(version_in_image("iprule-controller:v0.3.0"), "0.3.0");
  EXPECT_EQ(version_in_image("registry.example:5000/x/iprule-controller:0.3.0-rc1"), "0.3.0-rc1");
  EXPECT_EQ(version_in_image("registry.example:5000/iprule-controller"), "") << "a port is no tag";
  EXPECT_EQ(version_in_image("iprule-controller:v0.3.0@sha256:00"), "0.3.0");
  EXPECT_EQ(version_in_image("iprule-controller@sha256:00"), "");
  EXPECT_EQ(version_in_image("iprule-controller:latest"), "");
}

TEST(Version, one_minor_version_apart_is_supported) {
  EXPECT_FALSE(is_too_far("0.3.0", "v0.3.9"));
  EXPECT_FALSE(is_too_far("0.3.0", "0.2.0"));
  EXPECT_TRUE(is_too_far("0.3.0", "0.1.0"));
  EXPECT_TRUE(is_too_far("1.0.0", "0.9.0"));
  EXPECT_FALSE(is_too_far("0.3.0", "")) << "unknown is not far";
}

TEST(Version, all_that_runs_is_told_with_the_skew) {
  const std::string own(base::version());
  ClusterVersions cluster{.server = "v1.31.2",
                          .controllers = std::vector<std::string>{own},
                          .agents = std::map<std::string, std::size_t>{{own, 3}},
                          .gaps = {}};
  const Answer fine = show_version("iprulectl", cluster);
  EXPECT_EQ(fine.page.render({}), base::version_text("iprulectl") + "\niprule-controller  v" + own +
                                      "\niprule-agent       v" + own +
                                      " on 3 nodes\nKubernetes         v1.31.2\nSkew ok.\n");
  EXPECT_EQ(fine.code, ExitCode::fine);
  (*cluster.agents)["9.9.0"] = 1;
  const Answer apart = show_version("iprulectl", cluster);
  EXPECT_THAT(apart.page.render({}), HasSubstr(" on 3 nodes, v9.9.0 on 1\n"));
  EXPECT_THAT(apart.page.render({}), HasSubstr("Skew not supported: same major version"));
  EXPECT_EQ(apart.code, ExitCode::attention);
}

TEST(Version, what_could_not_be_asked_is_unknown_and_not_none) {
  const ClusterVersions silent{.server = {}, .controllers = {}, .agents = {}, .gaps = {"version: 403"}};
  const Answer answer = show_version("iprulectl", silent);
  EXPECT_THAT(answer.page.render({}), HasSubstr("iprule-controller  unknown\n"
                                                "iprule-agent       unknown\n"
                                                "Kubernetes         unknown\n"
                                                "Not asked: version: 403\n"));
  EXPECT_EQ(answer.code, ExitCode::could_not_ask);
  EXPECT_EQ(show_version("iprulectl", std::nullopt).page.render({}), base::version_text("iprulectl") + "\n");
}

}  // namespace
}  // namespace cli
