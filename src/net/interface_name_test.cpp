#include "net/interface_name.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(InterfaceName, what_the_kernel_refuses_is_refused) {
  for (const auto* text : {"", ".", "..", "a/b", "a b", "a:b", "a\tb", "exactly16letters"}) {
    EXPECT_FALSE(InterfaceName::parse(text)) << text;
  }
  EXPECT_FALSE(InterfaceName::parse(std::string_view("a\0b", 3)));
  EXPECT_EQ(InterfaceName::parse("eth0.4094").value().text(), "eth0.4094");
  EXPECT_EQ(InterfaceName::parse("just15letters__").value().text().size(), 15);
}

TEST(InterfaceName, none_is_empty_and_first) {
  EXPECT_TRUE(InterfaceName().empty());
  EXPECT_LT(InterfaceName(), InterfaceName::parse("eth0").value());
}

}  // namespace
}  // namespace net
