#include "http/url.h"

#include <gtest/gtest.h>

namespace http {
namespace {

TEST(Url, parts_are_found_and_defaults_filled_in) {
  EXPECT_EQ(*Url::parse("https://kubernetes.default.svc"), (Url{"https", "kubernetes.default.svc", 443, ""}));
  EXPECT_EQ(*Url::parse("http://127.0.0.1:8001/"), (Url{"http", "127.0.0.1", 8001, ""}));
  EXPECT_EQ(*Url::parse("https://[fd00::1]:6443/k8s/clusters/c-1/"),
            (Url{"https", "fd00::1", 6443, "/k8s/clusters/c-1"}));
}

TEST(Url, text_is_parsed_back_to_the_same) {
  for (const char* text : {"https://a:443", "https://[::1]:6443/x", "http://10.0.0.1:80/a/b"}) {
    EXPECT_EQ(Url::parse(text)->text(), text);
  }
}

TEST(Url, what_is_no_server_address_is_refused_by_name) {
  for (const char* text :
       {"", "a", "ftp://a", "https://", "https://:1", "https://a:0", "https://a:65536", "https://a:x", "https://[::1",
        "https://::1", "https://a b", "https://a/?q", "https://[::1]x"}) {
    const auto url = Url::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message().find(text), std::string::npos);
  }
}

TEST(Url, a_password_is_neither_taken_nor_repeated) {
  EXPECT_EQ(Url::parse("https://me:secret@a:6443").error().message(),
            "URL \"a:6443\": user name and password have no place here");
  for (const char* text : {"me:secret@a", "ftp://me:secret@a", "https://me:secret@", "https://me:secret/@a",
                           "https://me:se@secret@a", "https://[secret@a"}) {
    const auto url = Url::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message().find("secret"), std::string::npos) << url.error().message();
  }
  EXPECT_EQ(Url::parse("https://a/b@c")->text(), "https://a:443/b@c");
}

TEST(Url, a_unix_socket_is_this_host_to_its_server) {
  EXPECT_EQ((Url{"http", "/run/kubectl.sock", 0, ""}).authority(), "localhost");
}

TEST(Url, escape_keeps_only_what_is_safe_everywhere) {
  EXPECT_EQ(escape("a-b.c_d~9"), "a-b.c_d~9");
  EXPECT_EQ(escape("a=b,c/d \xff"), "a%3Db%2Cc%2Fd%20%FF");
  EXPECT_EQ(unescape("a%3Db%2cc%2Fd%20%FF"), "a=b,c/d \xff");
  EXPECT_EQ(unescape("100%, %, %2, %2x %"), "100%, %, %2, %2x %");
}

}  // namespace
}  // namespace http
