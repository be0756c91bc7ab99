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
