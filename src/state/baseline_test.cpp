#include "state/baseline.h"

#include <gtest/gtest.h>

namespace state {
namespace {

using Texts = std::vector<std::string>;

NetState host(const std::vector<const char*>& v4, const std::vector<const char*>& v6) {
  NetState out;
  for (const char* text : v4) out.rules.push_back(parse_rule(net::Family::v4, text).value());
  for (const char* text : v6) out.rules.push_back(parse_rule(net::Family::v6, text).value());
  return out;
}

TEST(Baseline, F2_what_every_host_has_may_stand_anywhere) {
  EXPECT_EQ(missing_baseline(
                host({"0: from all lookup local", "32766: from all lookup main", "32767: from all lookup default"},
                     {"0: from all lookup local", "32766: from all lookup main"})),
            Texts());
  EXPECT_EQ(missing_baseline(host(
                {"100: from all lookup local", "200: from all lookup main", "32767: from all lookup default"}, {})),
            Texts());
}

TEST(Baseline, F2_a_rule_that_takes_only_some_packets_there_is_no_baseline) {
  EXPECT_EQ(missing_baseline(host({"0: from all lookup local", "500: from 10.0.0.7 lookup main",
                                   "501: from all lookup main suppress_prefixlength 0"},
                                  {"0: from all lookup local"})),
            (Texts{"IPv4 main", "IPv4 default", "IPv6 main"}));
}

}  // namespace
}  // namespace state
