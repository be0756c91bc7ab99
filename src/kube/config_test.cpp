#include "kube/config.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "kube/client.h"
#include "kube/credentials.h"
#include "kube/kubeconfig.h"

namespace kube {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string name = (fs::temp_directory_path() / "kube-config-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(base::write_file(folder_ / name, text));
    return folder_ / name;
  }

  fs::path folder_;
};

constexpr const char* kFirst = R"(
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: main
  cluster: {server: "https://10.0.0.1:6443", certificate-authority: pki/ca.crt, tls-server-name: api}
contexts:
- name: one
  context: {cluster: main, user: token, namespace: shop}
- name: two
  context: {cluster: main, user: person}
users:
- name: token
  user: {token: sesame}
)";

constexpr const char* kSecond = R"(
current-context: two
clusters:
- name: main
  cluster: {server: "https://ignored"}
users:
- name: person
  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, tokenFile: /run/token}
)";

TEST_F(ConfigTest, files_are_merged_and_the_first_wins) {
  const std::vector files = {write("first", kFirst), folder_ / "missing", write("second", kSecond)};
  const auto one = from_kubeconfig(files, "");
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(one->server.text(), "https://10.0.0.1:6443");
  EXPECT_EQ(one->ca.file, folder_ / "pki/ca.crt");  // Relative to its own file.
  EXPECT_EQ(one->tls_server_name, "api");
  EXPECT_EQ(one->token, "sesame");
  EXPECT_EQ(one->ns, "shop");

  const auto two = from_kubeconfig(files, "two");
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ(two->certificate.data, "cert");
  EXPECT_EQ(two->key.data, "key");
  EXPECT_EQ(two->token_file, "/run/token");
  EXPECT_EQ(two->ns, "default");
}

TEST_F(ConfigTest, another_cluster_and_user_than_the_contexts_can_be_named) {
  const std::vector files = {write("first", kFirst), write("second", kSecond)};
  const auto config = from_kubeconfig(files, "", {.cluster = "", .user = "person"});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->certificate.data, "cert");
  EXPECT_EQ(config->ns, "shop") << "the rest of the context stays";
  EXPECT_EQ(from_kubeconfig(files, "", {.cluster = "moon", .user = ""}).error().message(),
            "kubeconfig has no cluster \"moon\"");
}

TEST_F(ConfigTest, errors_name_the_file_and_the_field) {
  const auto broken = write("broken", "users:\n- name: a\n  user: {token: [1]}\n");
  const auto bad_type = from_kubeconfig({broken}, "");
  ASSERT_FALSE(bad_type);
  EXPECT_NE(bad_type.error().message().find(broken.string()), std::string::npos) << bad_type.error().message();
  EXPECT_NE(bad_type.error().message().find("users[0].user.token"), std::string::npos) << bad_type.error().message();

  const auto bad_data = from_kubeconfig({write("data", "users:\n- name: a\n  user: {client-key-data: s?cret}\n")}, "");
  ASSERT_FALSE(bad_data);
  EXPECT_NE(bad_data.error().message().find("client-key-data: not base64"), std::string::npos);
  EXPECT_EQ(bad_data.error().message().find("cret"), std::string::npos) << "a key must not be shown";

  EXPECT_EQ(from_kubeconfig({write("first", kFirst)}, "three").error().message(),
            "kubeconfig has no context \"three\"");
  EXPECT_EQ(from_kubeconfig({write("first", kFirst)}, "two").error().message(), "kubeconfig has no user \"person\"");
  EXPECT_EQ(from_kubeconfig({write("empty", "{}")}, "").error().message(), "kubeconfig has no current-context");
}

// Of two files the first wins; of two entries in one nobody knows which was meant.
TEST_F(ConfigTest, a_name_that_a_file_gives_twice_is_refused_with_file_list_and_name) {
  for (const std::string list : {"clusters", "users", "contexts"}) {
    const auto file = write(
        "twice", list + ": [{name: main}, {name: other}, {name: main, " + list.substr(0, list.size() - 1) + ": {}}]\n");
    const auto config = from_kubeconfig({write("first", kFirst), file}, "");
    ASSERT_FALSE(config) << list;
    EXPECT_EQ(config.error().message(), file.string() + ": " + list + "[2].name: duplicate name \"main\" in list");
  }
}

TEST_F(ConfigTest, of_a_list_of_kubeconfigs_some_may_be_missing_and_not_all) {
  EXPECT_TRUE(from_kubeconfig({"/no/such/file", write("first", kFirst)}, "one"));
  EXPECT_EQ(from_kubeconfig({"/no/such/file", "/nor/this"}, "").error().message(),
            "/no/such/file, /nor/this: no such file; KUBECONFIG or --kubeconfig says where a kubeconfig is");
}

TEST_F(ConfigTest, a_plain_server_is_not_told_who_we_are) {
  const auto plain = from_kubeconfig({write("plain", R"(
current-context: c
clusters: [{name: local, cluster: {server: "http://127.0.0.1:8001"}}]
users: [{name: me, user: {token: secret, client-certificate-data: eA==, client-key-data: eA==}}]
contexts: [{name: c, context: {cluster: local, user: me}}]
)")},
                                     "");
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(plain->server.text(), "http://127.0.0.1:8001");
  EXPECT_EQ(plain->token, "");
  EXPECT_TRUE(plain->certificate.empty());
  EXPECT_TRUE(plain->key.empty());
}

constexpr const char* kCloud = R"(
current-context: cloud
clusters:
- name: cloud
  cluster: {server: "https://api.example", proxy-url: "http://proxy:3128", certificate-authority-data: Y2E=}
contexts:
- name: cloud
  context: {cluster: cloud, user: person}
users:
- name: person
  user:
    as: boss
    as-uid: '7'
    as-groups: [admins, audit]
    as-user-extra: {example.com/Reason: [upgrade, audit]}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./log-in
      args: [get-token]
      env: [{name: REGION, value: north}]
      interactiveMode: Never
      provideClusterInfo: true
)";

TEST_F(ConfigTest, a_persons_log_in_at_a_provider_is_understood) {
  const auto config = from_kubeconfig({write("cloud", kCloud)}, "");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->proxy->text(), "http://proxy:3128");
  EXPECT_EQ(config->impersonate.user, "boss");
  EXPECT_EQ(config->impersonate.uid, "7");
  EXPECT_EQ(config->impersonate.groups, (std::vector<std::string>{"admins", "audit"}));
  EXPECT_EQ(config->impersonate.extra,
            (std::map<std::string, std::vector<std::string>>{{"example.com/Reason", {"upgrade", "audit"}}}));
  EXPECT_EQ(fs::path(config->plugin.command), folder_ / "./log-in");  // Beside the kubeconfig.
  EXPECT_EQ(config->plugin.arguments, (std::vector<std::string>{"get-token"}));
  EXPECT_EQ(config->plugin.environment, (std::vector<std::string>{"REGION=north"}));
  EXPECT_EQ(config->plugin.interactive, ExecPlugin::Interactive::never);
  EXPECT_EQ(config->plugin.cluster, R"({"server":"https://api.example:443","certificate-authority-data":"Y2E=",)"
                                    R"("proxy-url":"http://proxy:3128","config":null})");
}

TEST_F(ConfigTest, a_plugin_is_told_what_the_cluster_has_for_it) {
  const auto config = from_kubeconfig({write("cloud", R"(
current-context: cloud
clusters:
- name: cloud
  cluster:
    server: https://api.example
    extensions:
    - {name: somebody.else, extension: {audience: theirs}}
    - {name: client.authentication.k8s.io/exec, extension: {audience: ours, retries: 3}}
contexts: [{name: cloud, context: {cluster: cloud, user: person}}]
users:
- name: person
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: log-in, provideClusterInfo: true}}
)")},
                                      "");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->plugin.cluster, R"({"server":"https://api.example:443","config":{"audience":"ours","retries":3}})");
}

TEST_F(ConfigTest, more_about_whom_to_be_is_nothing_without_a_name) {
  for (const std::string more : {"as-uid: '7'", "as-groups: [admins]", "as-user-extra: {reason: [audit]}"}) {
    const auto config = from_kubeconfig({write("nobody", R"(
current-context: c
clusters: [{name: c, cluster: {server: "https://api.example"}}]
contexts: [{name: c, context: {cluster: c, user: person}}]
users: [{name: person, user: {)" + more + "}}]")},
                                        "");
    ASSERT_FALSE(config) << more;
    EXPECT_EQ(config.error().message(), "user \"person\": as-uid, as-groups and as-user-extra need as: whom to be");
  }
}

// Of which kubectl tells only whoever would use it.
TEST_F(ConfigTest, a_plugin_of_another_time_is_refused_with_its_field_where_its_user_is_chosen) {
  for (const auto& [plugin, field] : std::map<std::string, std::string>{
           {"apiVersion: client.authentication.k8s.io/v1alpha1, command: x", "apiVersion"},
           {"apiVersion: client.authentication.k8s.io/v1", "command"},
           {"apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Maybe", "interactiveMode"}}) {
    const auto file = write("old", R"(
clusters: [{name: c, cluster: {server: "https://api.example"}}]
contexts: [{name: healthy, context: {cluster: c, user: well}}, {name: old, context: {cluster: c, user: ill}}]
users: [{name: ill, user: {exec: {)" + plugin +
                                       R"(}}}, {name: well, user: {token: sesame}}]
)");
    const auto healthy = from_kubeconfig({file}, "healthy");
    ASSERT_TRUE(healthy) << healthy.error().message();
    EXPECT_EQ(healthy->token, "sesame");
    const auto old = from_kubeconfig({file}, "old");
    ASSERT_FALSE(old) << field;
    EXPECT_TRUE(old.error().message().starts_with(file.string() + ": users[0].user.exec." + field))
        << old.error().message();
  }
}

TEST_F(ConfigTest, the_pods_account_is_found) {
  write("token", "abc\n");
  write("namespace", "iprule-system\n");
  const Environment pod{
      .kubeconfig = "", .home = "", .service_host = "fd00::1", .service_port = "443", .account = folder_};
  const auto config = load_config({}, {}, pod);
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->server.text(), "https://[fd00::1]:443");
  EXPECT_EQ(config->ca.file, folder_ / "ca.crt");
  EXPECT_EQ(config->token_file, folder_ / "token");
  EXPECT_EQ(config->ns, "iprule-system");
}

TEST_F(ConfigTest, an_accounts_token_file_without_a_token_is_an_error_that_names_it) {
  const Environment pod{
      .kubeconfig = "", .home = "", .service_host = "10.0.0.9", .service_port = "443", .account = folder_};
  const auto complaint = [&] {
    auto config = load_service_config({}, pod);
    if (!config) return config.error().message();
    config->ca = {};
    const auto client = Client::connect(*config);
    return client ? "" : client.error().message();
  };
  const std::string file = (folder_ / "token").string();
  EXPECT_EQ(complaint(), "service account token: open " + file + ": No such file or directory");
  write("token", " \n");
  EXPECT_EQ(complaint(), "service account token: " + file + ": there is no token in it");
  write("token", "\tabc \n");
  EXPECT_EQ(complaint(), "");
}

TEST_F(ConfigTest, what_is_named_wins_over_what_is_found) {
  Environment environment{.kubeconfig = write("env", kFirst).string(),
                          .home = folder_.string(),
                          .service_host = "h",
                          .service_port = "1",
                          .account = folder_};
  EXPECT_EQ(load_config({}, {}, environment)->ns, "shop");
  EXPECT_FALSE(load_config(folder_ / "missing", {}, environment));
  environment.kubeconfig.clear();
  EXPECT_FALSE(load_config({}, {}, environment)) << "a pod without a token";
  environment.service_host.clear();
  fs::create_directory(folder_ / ".kube");
  write(".kube/config", kFirst);
  EXPECT_EQ(load_config({}, {}, environment)->ns, "shop");
}

TEST_F(ConfigTest, a_kubeconfig_that_cannot_be_looked_at_is_an_error_that_names_it) {
  const fs::path too_long = folder_ / std::string(5000, 'x');
  const auto config = load_config(too_long, {}, {});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message(), "open " + too_long.string() + ": File name too long");
  const auto missing = load_config(folder_ / "missing", {}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), (folder_ / "missing").string() + ": no such file");
}

// A person in a pod who has brought a kubeconfig means that one; a program in a pod is who its pod is.
TEST_F(ConfigTest, in_a_pod_the_kubeconfig_at_home_is_for_people_and_the_account_for_programs) {
  write("token", "abc");
  const Environment pod{.kubeconfig = "",
                        .home = folder_.string(),
                        .service_host = "10.0.0.9",
                        .service_port = "443",
                        .account = folder_};
  const auto server = [](const base::Result<Config>& config) {
    return config ? config->server.text() : config.error().message();
  };
  EXPECT_EQ(server(load_config({}, {}, pod)), "https://10.0.0.9:443") << "there is no other";
  fs::create_directory(folder_ / ".kube");
  write(".kube/config", kFirst);
  EXPECT_EQ(server(load_config({}, {}, pod)), "https://10.0.0.1:6443");
  EXPECT_EQ(server(load_service_config({}, pod)), "https://10.0.0.9:443");
  Environment named = pod;
  named.kubeconfig = (folder_ / ".kube/config").string();
  EXPECT_EQ(server(load_service_config({}, named)), "https://10.0.0.1:6443");
}

// How the server is reached: the proxy, or why there is no telling.
std::string way_to_server(const Environment& environment) {
  const auto config = load_config({}, {}, environment);
  if (!config) return config.error().message();
  return config->proxy ? config->proxy->text() : "directly";
}

TEST_F(ConfigTest, the_proxy_of_the_environment_is_taken_unless_an_exception_covers_the_server) {
  Environment environment;
  environment.kubeconfig = write("config", kFirst).string();
  EXPECT_EQ(way_to_server(environment), "directly");
  environment.https_proxy = "other:8080";
  EXPECT_EQ(way_to_server(environment), "http://other:8080");
  environment.no_proxy = "elsewhere.example";
  EXPECT_EQ(way_to_server(environment), "http://other:8080");
  environment.no_proxy = "elsewhere.example,10.0.0.0/8";
  EXPECT_EQ(way_to_server(environment), "directly");
}

TEST_F(ConfigTest, the_kubeconfigs_own_proxy_wins_over_the_environments) {
  Environment environment;
  environment.kubeconfig = write("cloud", kCloud).string();
  environment.https_proxy = "other:8080";
  EXPECT_EQ(way_to_server(environment), "http://proxy:3128");
  environment.no_proxy = "*";
  EXPECT_EQ(way_to_server(environment), "http://proxy:3128");
}

TEST_F(ConfigTest, a_proxy_that_cannot_be_used_is_named_by_its_variable) {
  Environment environment;
  environment.kubeconfig = write("config", kFirst).string();
  environment.https_proxy = "https://other:8080";
  EXPECT_EQ(way_to_server(environment), "HTTPS_PROXY: proxy https://other:8080: only http:// proxies are supported");
}

// A variable of this process, as long as this lives; null: it is not set.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;  // NOLINT(concurrency-mt-unsafe)
    set(value);
  }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;
  ~SetVariable() { set(before_ ? before_->c_str() : nullptr); }

  void set(const char* value) const {
    value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1);  // NOLINT(concurrency-mt-unsafe)
  }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

TEST(ProcessEnvironment, a_proxy_and_its_exceptions_are_found_by_either_name) {
  const SetVariable proxy("HTTPS_PROXY", "great:1");
  const SetVariable small_proxy("https_proxy", "small:2");
  const SetVariable exceptions("NO_PROXY", "great.example");
  const SetVariable small_exceptions("no_proxy", "small.example");
  EXPECT_EQ(Environment::of_process().https_proxy, "great:1");
  EXPECT_EQ(Environment::of_process().no_proxy, "great.example");
  proxy.set(nullptr);
  exceptions.set(nullptr);
  EXPECT_EQ(Environment::of_process().https_proxy, "small:2");
  EXPECT_EQ(Environment::of_process().no_proxy, "small.example");
}

TEST_F(ConfigTest, a_replaced_token_file_is_read_again) {
  const auto file = write("token", "first\n");
  Config config;
  config.token_file = file;
  Credentials credentials(config);
  ASSERT_TRUE(credentials.start());
  const Limit limit = within(std::chrono::minutes(1));
  EXPECT_EQ(credentials.token(limit), "first");
  EXPECT_FALSE(credentials.renew("first", 0, limit));
  write("next", "second");
  fs::rename(folder_ / "next", file);  // As the kubelet does it.
  EXPECT_EQ(credentials.token(limit), "second");
  EXPECT_TRUE(credentials.renew("first", 0, limit));
  write("token", "");
  EXPECT_EQ(credentials.token(limit), "second") << "a file that is yet to be written takes nothing away";
  write("token", "\t third\r\n");
  EXPECT_EQ(credentials.token(limit), "third");
  fs::remove(file);
  EXPECT_EQ(credentials.token(limit), "third") << "a file that is away for a moment takes nothing away";
}

}  // namespace
}  // namespace kube
