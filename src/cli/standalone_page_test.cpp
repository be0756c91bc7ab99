#include "cli/standalone_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(StandalonePage, a_host_where_all_is_well) {
  const Answer answer = show_standalone({.folder = "/etc/iprule",
                                         .settled = true,
                                         .kernel_rules = 2,
                                         .rules = {{.name = "uplink-b", .reason = "Valid", .services = 1, .vips = 2}}});
  EXPECT_EQ(answer.page.render({}),
            "      OBJECT           SERVICES  VIPS  STATE\n"
            "  ok  IPRule/uplink-b  1         2     Valid\n"
            "/etc/iprule: 2 rules of ours in the kernel. Healthy.\n");
  EXPECT_EQ(answer.code, ExitCode::fine);
}

TEST(StandalonePage, what_is_wrong_is_said) {
  const Answer answer = show_standalone({.folder = "/etc/iprule",
                                         .trouble = "/etc/iprule/a.yaml:3:5: spec.table: required",
                                         .waiting = "add IPv4 rule 7",
                                         .rules = {{.name = "b", .reason = "NoCIDR", .message = "no prefix"}}});
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("!!  IPRule/b  0         0     NoCIDR: no prefix\n"));
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("a.yaml:3:5: spec.table: required\n"));
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("Not there yet: add IPv4 rule 7\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
}

}  // namespace
}  // namespace cli
