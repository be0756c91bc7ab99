#include "http/listen_address.h"

#include <gtest/gtest.h>

namespace http {
namespace {

TEST(ListenAddress, the_forms_of_go_are_read) {
  const auto parse = [](std::string_view text) { return ListenAddress::parse(text).value(); };
  EXPECT_EQ(parse(":9090"), (ListenAddress{std::nullopt, 9090}));
  EXPECT_EQ(parse("127.0.0.1:0"), (ListenAddress{net::Address::parse("127.0.0.1").value(), 0}));
  EXPECT_EQ(parse("localhost:80"), (ListenAddress{net::Address::parse("127.0.0.1").value(), 80}));
  EXPECT_EQ(parse("[fd00::1]:443"), (ListenAddress{net::Address::parse("fd00::1").value(), 443}));
  EXPECT_EQ(parse("[::ffff:10.0.0.1]:443"), (ListenAddress{net::Address::parse("10.0.0.1").value(), 443}));
}

TEST(ListenAddress, what_is_wrong_is_named) {
  const auto message = [](std::string_view text) { return ListenAddress::parse(text).error().message(); };
  EXPECT_EQ(message("9090"), "listen address \"9090\": no port");
  EXPECT_EQ(message(":http"), "listen address \":http\": \"http\" is no port");
  EXPECT_EQ(message(":65536"), "listen address \":65536\": \"65536\" is no port");
  EXPECT_EQ(message(":"), "listen address \":\": \"\" is no port");
  EXPECT_NE(message("fd00::1:443").find("brackets"), std::string::npos);
  EXPECT_NE(message("[10.0.0.1]:443").find("brackets"), std::string::npos);
  EXPECT_NE(message("::ffff:10.0.0.1:443").find("brackets"), std::string::npos);
}

}  // namespace
}  // namespace http
