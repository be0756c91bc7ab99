#include "kube/kubeconfig.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/client.h"

namespace kube {
namespace {

// One context for one cluster and one user, whose fields these are.
Kubeconfig kubeconfig_of(std::string_view cluster, std::string_view user) {
  return Kubeconfig::parse(fmt::format(R"(
current-context: c
clusters: [{{name: main, cluster: {{{}}}}}]
contexts: [{{name: c, context: {{cluster: main, user: jane}}}}]
users: [{{name: jane, user: {{{}}}}}]
)",
                                       cluster, user),
                           "/path/config")
      .value();
}

// What is wrong with it for a client; "" where nothing is.
std::string complaint(std::string_view cluster, std::string_view user) {
  const auto config = kubeconfig_of(cluster, user).choose("");
  if (!config) return config.error().message();
  const auto client = Client::connect(*config);
  return client ? "" : client.error().message();
}

constexpr std::string_view kServer = "server: 'https://api.example'";

TEST(KubeconfigTest, what_is_wrong_with_the_chosen_is_told_with_its_file_and_field) {
  EXPECT_EQ(complaint("server: api", ""), "/path/config: clusters[main].server: URL \"api\": no scheme");
  EXPECT_EQ(complaint(fmt::format("{}, proxy-url: 'https://p'", kServer), ""),
            "/path/config: clusters[main].proxy-url: proxy https://p:443: only http:// proxies are supported");
  EXPECT_EQ(complaint(kServer, "username: me"), "/path/config: users[jane].username is not supported");
}

TEST(KubeconfigTest, what_is_no_certificate_is_told_with_its_file_and_field_and_not_shown) {
  const auto secret = "c2VjcmV0";  // Base64, but no PEM.
  EXPECT_EQ(complaint(fmt::format("{}, certificate-authority-data: {}", kServer, secret), ""),
            "/path/config: clusters[main].certificate-authority-data: the CA data holds no PEM certificate");
  const auto bad_user = complaint(fmt::format("{}, insecure-skip-tls-verify: true", kServer),
                                  fmt::format("client-certificate-data: {0}, client-key-data: {0}", secret));
  EXPECT_TRUE(
      bad_user.starts_with("/path/config: users[jane].client-certificate-data: the client certificate is not PEM"))
      << bad_user;
  EXPECT_EQ(bad_user.find("secret"), std::string::npos) << bad_user;
}

TEST(KubeconfigTest, a_file_that_cannot_be_read_is_told_with_the_field_that_names_it) {
  const auto missing = complaint(kServer, "client-certificate: jane.crt, client-key: jane.key");
  EXPECT_TRUE(missing.starts_with("/path/config: users[jane].client-certificate: ")) << missing;
  EXPECT_NE(missing.find("/path/jane.crt"), std::string::npos) << missing;
  EXPECT_EQ(complaint(fmt::format("{}, certificate-authority: /proc/version", kServer), ""),
            "/path/config: clusters[main].certificate-authority: /proc/version: the CA data holds no PEM certificate");
}

// Without it every call would be an anonymous one.
TEST(KubeconfigTest, a_token_file_without_a_token_is_told_with_the_field_that_names_it) {
  EXPECT_EQ(complaint(kServer, "tokenFile: jane.token"),
            "/path/config: users[jane].tokenFile: open /path/jane.token: No such file or directory");
  EXPECT_EQ(complaint(kServer, "tokenFile: /proc"), "/path/config: users[jane].tokenFile: read /proc: Is a directory");
  EXPECT_EQ(complaint(kServer, "tokenFile: /dev/null"),
            "/path/config: users[jane].tokenFile: /dev/null: there is no token in it");
  EXPECT_EQ(complaint(kServer, "token: sesame, tokenFile: jane.token"), "") << "the token stands in for it";
  EXPECT_EQ(complaint("server: 'http://api.example'", "tokenFile: jane.token"), "") << "nobody is told who we are";
}

// Whoever confines a process that needs no plugin must know that it needs none.
TEST(KubeconfigTest, a_plugin_beside_another_way_to_log_in_is_left_out_as_kubectl_has_it) {
  const auto is_asked = [](std::string_view beside) {
    const auto user = fmt::format("exec: {{apiVersion: client.authentication.k8s.io/v1, command: log-in}}, {}", beside);
    return !kubeconfig_of(kServer, user).choose("").value().plugin.empty();
  };
  EXPECT_TRUE(is_asked(""));
  EXPECT_TRUE(is_asked("as: boss"));
  EXPECT_TRUE(is_asked("client-certificate: a.crt"));
  EXPECT_FALSE(is_asked("token: sesame"));
  EXPECT_FALSE(is_asked("tokenFile: jane.token"));
  EXPECT_FALSE(is_asked("client-certificate: a.crt, client-key-data: a2V5"));
}

TEST(KubeconfigTest, what_the_flags_say_of_whom_to_be_counts_and_the_rest_stays) {
  const auto kubeconfig = kubeconfig_of(
      kServer, "as: boss, as-uid: '7', as-groups: [admins], as-user-extra: {reason: [audit], place: [here]}");
  const auto chosen = [&](const Impersonation& flags) {
    return kubeconfig.choose("", {.cluster = "", .user = "", .impersonate = flags}).value().impersonate;
  };
  const Impersonation own{
      .user = "boss", .uid = "7", .groups = {"admins"}, .extra = {{"reason", {"audit"}}, {"place", {"here"}}}};
  EXPECT_EQ(chosen({}), own);
  Impersonation expected = own;
  expected.user = "joe";
  EXPECT_EQ(chosen({.user = "joe"}), expected);
  expected.groups = {"readers", "people"};
  EXPECT_EQ(chosen({.user = "joe", .groups = {"readers", "people"}}), expected);
  expected.uid = "8";
  expected.extra["reason"] = {"upgrade"};
  EXPECT_EQ(chosen({.user = "joe", .uid = "8", .groups = {"readers", "people"}, .extra = {{"reason", {"upgrade"}}}}),
            expected);
}

TEST(KubeconfigTest, whom_to_be_may_be_named_by_the_flags_alone) {
  const auto kubeconfig = kubeconfig_of(kServer, "as-groups: [admins]");
  EXPECT_FALSE(kubeconfig.choose(""));
  const auto named = kubeconfig.choose("", {.cluster = "", .user = "", .impersonate = {.user = "joe"}});
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(named->impersonate, (Impersonation{.user = "joe", .groups = {"admins"}}));
  const auto group = kubeconfig.choose("", {.cluster = "", .user = "", .impersonate = {.groups = {"readers"}}});
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().message(), "--as-group: no user to be; --as names one");
}

}  // namespace
}  // namespace kube
