#include "kube/proxy.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

std::string through(const std::string& server, const std::string& exceptions, const std::string& proxy = "proxy:3128") {
  const auto found = proxy_for(http::Url::parse(server).value(), proxy, exceptions);
  if (!found) return found.error().message();
  return *found ? (*found)->text() : "directly";
}

TEST(Proxy, is_taken_unless_an_exception_covers_the_server) {
  EXPECT_EQ(through("https://api.example:6443", ""), "http://proxy:3128");
  EXPECT_EQ(through("https://api.example:6443", "", ""), "directly");
  EXPECT_EQ(through("https://api.example:6443", "other, .example"), "directly");
  EXPECT_EQ(through("https://api.example:6443", "api.example"), "directly");
  EXPECT_EQ(through("https://myapi.example:6443", "api.example"), "http://proxy:3128");
  EXPECT_EQ(through("https://api.example:6443", "api.example:6443"), "directly");
  EXPECT_EQ(through("https://api.example:6443", "api.example:443"), "http://proxy:3128");
  EXPECT_EQ(through("https://10.1.2.3", "10.0.0.0/8"), "directly");
  EXPECT_EQ(through("https://[fd00::1]", "fd00::/64"), "directly");
  EXPECT_EQ(through("https://192.0.2.1", "10.0.0.0/8,192.0.2.1"), "directly");
  EXPECT_EQ(through("https://api.example", "*"), "directly");
}

// What NO_PROXY means to Go's programs (golang.org/x/net/http/httpproxy), and so to kubectl: one environment, one way.
TEST(Proxy, a_name_covers_itself_and_what_is_below_and_one_behind_a_dot_only_what_is_below) {
  EXPECT_EQ(through("https://example", "example"), "directly");
  EXPECT_EQ(through("https://api.example", "example"), "directly");
  EXPECT_EQ(through("https://example", ".example"), "http://proxy:3128");
  EXPECT_EQ(through("https://api.example", ".example"), "directly");
  EXPECT_EQ(through("https://my.api.example", "*.example"), "directly");
  EXPECT_EQ(through("https://example", "*.example"), "http://proxy:3128");
  EXPECT_EQ(through("https://api.example:6443", "*.example:6443"), "directly");
  EXPECT_EQ(through("https://api.example:6443", "*.example:443"), "http://proxy:3128");
  EXPECT_EQ(through("https://api.example", "*api.example"), "http://proxy:3128") << "a star stands for whole labels";
  EXPECT_EQ(through("https://api.example", "*.,.,:443,,[]:443"), "http://proxy:3128") << "what says nothing";
}

TEST(Proxy, names_are_the_same_in_capital_letters) {
  EXPECT_EQ(through("https://API.example", "api.Example"), "directly");
  EXPECT_EQ(through("https://api.example", ".EXAMPLE"), "directly");
  EXPECT_EQ(through("https://[FD00::1]", "fd00::1"), "directly");
  EXPECT_EQ(through("https://LocalHost:6443", ""), "directly");
}

TEST(Proxy, an_exception_with_a_port_is_for_that_one) {
  EXPECT_EQ(through("https://api.example:6443", "api.example:"), "directly") << "none is named";
  EXPECT_EQ(through("https://192.0.2.1:6443", "192.0.2.1:6443"), "directly");
  EXPECT_EQ(through("https://192.0.2.1:6443", "192.0.2.1:443"), "http://proxy:3128");
  EXPECT_EQ(through("https://[fd00::1]:6443", "[fd00::1]:6443"), "directly");
  EXPECT_EQ(through("https://[fd00::1]:6443", "[fd00::1]:443"), "http://proxy:3128");
  EXPECT_EQ(through("https://[fd00::1]:6443", "[fd00::1]"), "directly");
  EXPECT_EQ(through("https://[fd00::2]:6443", "[fd00::1]"), "http://proxy:3128");
  EXPECT_EQ(through("https://[fd00::1]:6443", "fd00::1"), "directly");
  EXPECT_EQ(through("https://[fd00::1]:6443", "fd00::1:6443"), "http://proxy:3128") << "another address";
}

TEST(Proxy, blanks_around_an_exception_do_not_count_and_a_star_covers_all) {
  EXPECT_EQ(through("https://api.example", "other,\tapi.example \n"), "directly");
  EXPECT_EQ(through("https://192.0.2.1", "other, * "), "directly");
  EXPECT_EQ(through("https://[fd00::1]", "*"), "directly");
  EXPECT_EQ(through("https://192.0.3.1", "192.0.2.0/24"), "http://proxy:3128");
}

TEST(Proxy, never_stands_before_this_host) {
  EXPECT_EQ(through("https://localhost:6443", ""), "directly");
  EXPECT_EQ(through("https://127.0.0.9:6443", ""), "directly");
  EXPECT_EQ(through("https://[::1]:6443", ""), "directly");
}

TEST(Proxy, what_we_cannot_speak_to_is_refused) {
  EXPECT_EQ(through("https://api.example", "", "https://proxy:3128"),
            "proxy https://proxy:3128: only http:// proxies are supported");
  EXPECT_NE(through("https://api.example", "", "socks 5").find("no host name"), std::string::npos);
}

TEST(Proxy, a_password_is_kept_and_never_shown) {
  const auto user_of = [](const std::string& text) {
    const auto url = parse_proxy(text);
    EXPECT_EQ(url ? url->text() : url.error().message(), "http://proxy:3128") << text;
    return url ? url->user : "none";
  };
  EXPECT_EQ(user_of("http://me:s%40crEt@proxy:3128"), "me:s@crEt");
  EXPECT_EQ(user_of("me:se/cr@et://@proxy:3128"), "me:se/cr@et://") << "as it is, if nobody escaped it";
  EXPECT_EQ(user_of("me@proxy:3128"), "me");
  EXPECT_EQ(user_of("proxy:3128"), "");
  for (const char* text :
       {"https://me:secret@proxy", "me:secret@", "http://me:secret@proxy:x", "me:secret@two words"}) {
    const auto url = parse_proxy(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message().find("secret"), std::string::npos) << url.error().message();
  }
}

}  // namespace
}  // namespace kube
