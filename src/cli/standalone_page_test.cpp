#include "cli/standalone_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

agent::StandaloneStatus well() {
  return {.folder = "/etc/iprule",
          .settled = true,
          .kernel_rules = 2,
          .rules = {{.name = "uplink-b", .reason = "Valid", .services = 1, .vips = 2}}};
}

TEST(StandalonePage, a_host_where_all_is_well) {
  const Answer answer = show_standalone(well(), true);
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
                                         .rules = {{.name = "b", .reason = "NoCIDR", .message = "no prefix"}}},
                                        true);
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("!!  IPRule/b  0         0     NoCIDR: no prefix\n"));
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("a.yaml:3:5: spec.table: required\n"));
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("Not there yet: add IPv4 rule 7\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
}

TEST(StandalonePage, what_a_dead_agent_knew_last_is_not_healthy) {
  const Answer answer = show_standalone(well(), false);
  EXPECT_THAT(answer.page.render({}), testing::HasSubstr("Its agent does not run: this is what it knew last.\n"
                                                         "/etc/iprule: 2 rules of ours in the kernel. Not healthy.\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_THAT(answer.json, testing::HasSubstr(R"("agentRuns":false,"healthy":false)"));
  agent::StandaloneStatus once = well();
  once.once = true;
  EXPECT_EQ(show_standalone(once, false).code, ExitCode::fine) << "none was to stay";
}

TEST(StandalonePage, rules_that_no_packet_can_follow_are_not_healthy) {
  agent::StandaloneStatus status = well();
  status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  status.strict_devices = {"eth1"};
  status.clashes = {"IPv4 rule 1000: from all lookup 200"};
  status.drifting = true;
  const Answer answer = show_standalone(status, true);
  EXPECT_THAT(answer.page.render({}),
              testing::HasSubstr("  !!  table 100 has no IPv4 route: lookups fall through to the next rule  IPR0311\n"
                                 "  !!  rp_filter is 1 (strict) for eth1: packets are dropped on arrival  IPR0310\n"
                                 "  !!  a rule of others for the same packets: IPv4 rule 1000: from all lookup 200  "
                                 "IPR0105\n"
                                 "  !!  others keep changing our rules"));
  EXPECT_EQ(answer.code, ExitCode::attention);
}

}  // namespace
}  // namespace cli
