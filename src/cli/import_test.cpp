#include "cli/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace cli {
namespace {

using testing::ElementsAre;

TEST(Import, sources_of_one_table_and_priority_become_one_iprule) {
  DumpedRules dumped;
  for (const auto* rule :
       {"0: from all lookup local", "1000: from 203.0.113.45 lookup 100 proto static",
        "1000: from 203.0.113.0/26 lookup 100", "1000: from 10.96.23.17 lookup 100 proto 183",
        "2000: from 192.0.2.1 lookup 200", "3000: from 192.0.2.1 fwmark 0x1 lookup 100", "4000: from all lookup 7",
        "4001: from 192.0.2.1 lookup main", "32766: from all lookup main"}) {
    dumped.rules.push_back(state::parse_rule(net::Family::v4, rule).value());
  }
  dumped.unread.push_back({.rule = "rule 5000", .reason = "tun_id 7"});
  const Imported imported = import_rules(dumped, "uplink-b");
  EXPECT_EQ(imported.taken, 3U);
  EXPECT_EQ(imported.left, 3U);
  EXPECT_THAT(imported.refused,
              ElementsAre("3000: from 192.0.2.1 fwmark 0x1 lookup 100: it asks for more than a source",
                          "4000: from all lookup 7: it has no source",
                          testing::StartsWith("4001: from 192.0.2.1 lookup main: table"), "rule 5000: tun_id 7"));
  EXPECT_EQ(imported.manifests,
            "apiVersion: api.operator.brtrm.dev/v1alpha1\n"
            "kind: IPRule\n"
            "metadata:\n"
            "  name: uplink-b\n"
            "spec:\n"
            "  cidrs:\n"
            "  - \"203.0.113.0/26\"\n"
            "  - \"203.0.113.45/32\"\n"
            "  table: 100\n"
            "  priority: 1000\n"
            "  source:\n"
            "    modes:\n"
            "    - LoadBalancerIP\n"
            "---\n"
            "apiVersion: api.operator.brtrm.dev/v1alpha1\n"
            "kind: IPRule\n"
            "metadata:\n"
            "  name: uplink-b-200-2000\n"
            "spec:\n"
            "  cidrs:\n"
            "  - \"192.0.2.1/32\"\n"
            "  table: 200\n"
            "  priority: 2000\n"
            "  source:\n"
            "    modes:\n"
            "    - LoadBalancerIP\n");
}

// An IPRule follows Services: whoever takes the old rules away first loses what they steered.
TEST(Import, it_is_said_that_addresses_without_a_service_are_not_steered) {
  const std::string file = testing::TempDir() + "iprule-import-rules.json";
  ASSERT_TRUE(base::write_file(file, R"([{"priority":1000,"src":"192.0.2.7","table":"100"}])"));
  const auto taken = import_file(file, "uplink-b");
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_NE(taken->sum.page.render({}).find("an address that no Service has is not steered"), std::string::npos);
  ASSERT_TRUE(base::write_file(file, "[]"));
  EXPECT_EQ(import_file(file, "uplink-b")->sum.page.render({}).find("Service"), std::string::npos);
}

}  // namespace
}  // namespace cli
