#include "dataplane/rule_limit.h"

#include <gtest/gtest.h>

namespace dataplane {
namespace {

net::Address ip(int last) {
  return net::Address::parse("10.0.0." + std::to_string(last)).value();
}

const ClassKey kOne{.path = {{.priority = 1000, .table = 100}}};
const ClassKey kTwo{.path = {{.priority = 1000, .table = 100}, {.priority = 1001, .table = 200}}};

Source wish(int last, std::uint64_t epoch) {
  return {ip(last), {.priority = 1000, .table = 100, .epoch = epoch}};
}

TEST(RuleLimit, the_youngest_objects_go_whole_and_the_others_stay) {
  Classes classes = {{kOne, {ip(1), ip(2), ip(3)}}, {kTwo, {ip(4)}}};
  const std::vector<Source> wishes = {wish(1, 7), wish(2, 9), wish(3, 5), wish(4, 7)};
  EXPECT_EQ(remove_youngest(classes, wishes, 5), Addresses{});
  EXPECT_EQ(remove_youngest(classes, wishes, 4), Addresses{ip(2)});
  EXPECT_EQ(remove_youngest(classes, wishes, 3), (Addresses{ip(1), ip(4)}));
  EXPECT_EQ(classes[kOne], Addresses{ip(3)});
}

}  // namespace
}  // namespace dataplane
