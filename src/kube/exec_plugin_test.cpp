#include "kube/exec_plugin.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "http/scripted_server_test.h"
#include "json/writer.h"
#include "kube/client.h"
#include "kube/credentials.h"

namespace kube {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kVersion = "client.authentication.k8s.io/v1";
constexpr auto kOlderVersion = "client.authentication.k8s.io/v1beta1";

// A plugin that is a shell script: it keeps count of its calls in a file beside it.
class ExecPluginTest : public testing::Test {
 protected:
  ExecPluginTest() {
    std::string name = (fs::temp_directory_path() / "exec-plugin-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ExecPluginTest() override { fs::remove_all(folder_); }

  ExecPlugin plugin(const std::string& body) {
    const fs::path script = folder_ / "plugin";
    EXPECT_TRUE(
        base::write_file(script, fmt::format("#!/bin/sh\necho call >> '{}/calls'\n{}\n", folder_.native(), body)));
    fs::permissions(script, fs::perms::owner_all);
    ExecPlugin out;
    out.command = script.native();
    out.api_version = kVersion;
    out.interactive = ExecPlugin::Interactive::never;
    return out;
  }
  // Says `status`, where $token and the like are the shell's, unless what it does before ends it.
  ExecPlugin says(const std::string& status, const std::string& before = {}) {
    return plugin(fmt::format(R"({}
cat <<END
{{"apiVersion":"{}","kind":"ExecCredential","status":{}}}
END)",
                              before, kVersion, status));
  }
  std::size_t calls() {
    const auto text = base::read_file(folder_ / "calls");
    return text ? text->size() / std::string_view("call\n").size() : 0;
  }
  static Config config_with(ExecPlugin plugin) {
    Config out;
    out.plugin = std::move(plugin);
    return out;
  }

  fs::path folder_;
};

std::string refusal(const std::string& answer) {
  const auto decoded = decode_exec_credential(answer, kVersion);
  return decoded ? "taken" : decoded.error().message();
}

TEST(ExecCredentialTest, what_it_says_is_checked_and_never_shown) {
  EXPECT_EQ(refusal(R"({"kind":"Pod"})"), "kind: expected ExecCredential");
  EXPECT_EQ(refusal(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})"),
            "apiVersion: expected client.authentication.k8s.io/v1, as it was asked");
  const auto with_status = [](const std::string& status) {
    return refusal(fmt::format(R"({{"kind":"ExecCredential","apiVersion":"{}","status":{}}})", kVersion, status));
  };
  EXPECT_EQ(with_status("{}"), "status: neither a token nor a certificate");
  EXPECT_EQ(with_status(R"({"token":"secret","clientKeyData":"k"})"),
            "status: clientCertificateData and clientKeyData come together or not at all");
  EXPECT_EQ(with_status(R"({"token":"secret","expirationTimestamp":"soon"})").find("secret"), std::string::npos);
  EXPECT_EQ(with_status(R"({"token":"t","expirationTimestamp":"secret"})"),
            "status.expirationTimestamp: expected a time, such as 2026-01-31T10:00:00Z");
  EXPECT_EQ(with_status(R"({"token":"secret"})"), "taken");
}

// In each of the versions that a kubeconfig may name.
class ExecPluginVersion : public ExecPluginTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Known, ExecPluginVersion, testing::Values(kVersion, kOlderVersion),
                         [](const auto& version) { return std::string(fs::path(version.param).filename()); });

TEST_P(ExecPluginVersion, it_is_told_what_it_is_asked_for_and_given_its_arguments) {
  ExecPlugin one = plugin(fmt::format(R"(test "$1" = get-token && test "$REGION" = north || exit 7
case $KUBERNETES_EXEC_INFO in *'"server":"https://api"'*) ;; *) exit 8 ;; esac
case $KUBERNETES_EXEC_INFO in *'"apiVersion":"{0}"'*) ;; *) exit 9 ;; esac
echo '{{"apiVersion":"{0}","kind":"ExecCredential","status":{{"token":"t"}}}}')",
                                      GetParam()));
  one.api_version = GetParam();
  one.arguments = {"get-token"};
  one.environment = {"REGION=north"};
  one.wants_cluster = true;
  one.cluster = R"({"server":"https://api"})";
  const auto answer = ask(one, 30s);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->token, "t");
}

TEST_F(ExecPluginTest, a_failure_names_the_plugin_and_what_to_install) {
  const auto failed = ask(plugin("exit 3"), 30s);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), fmt::format("credential plugin {}/plugin: exit code 3", folder_.native()));

  ExecPlugin missing;
  missing.command = "no-such-plugin";
  missing.install_hint = "get it from your provider";
  const auto absent = ask(missing, 30s);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message(),
            "credential plugin no-such-plugin: start: No such file or directory\nget it from your provider");

  const auto slow = ask(plugin("exec sleep 60"), 100ms);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().fault(), base::Fault::timeout);

  const auto lasting = ask(plugin("exec sleep 60 >&-"), 500ms);
  ASSERT_FALSE(lasting);
  EXPECT_EQ(lasting.error().fault(), base::Fault::timeout) << lasting.error().message();
}

TEST_F(ExecPluginTest, one_that_closes_its_output_before_it_ends_is_waited_for) {
  const auto failed = ask(plugin("exec >&-; sleep 0.1; exit 3"), 60s);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().message().ends_with("exit code 3")) << failed.error().message();
}

TEST_F(ExecPluginTest, it_is_not_deaf_to_signals_though_we_are) {
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &term, &before), 0);
  const auto ended = ask(plugin("kill -TERM $$; exit 3"), 30s);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  ASSERT_FALSE(ended);
  EXPECT_TRUE(ended.error().message().ends_with("ended by signal 15")) << ended.error().message();
}

TEST_F(ExecPluginTest, it_is_asked_once_and_again_when_its_answer_has_expired_or_is_refused) {
  Credentials lasting(config_with(says(R"-({"token":"t-$(date +%N)"})-")));
  ASSERT_TRUE(lasting.start());
  const std::string first = lasting.token(within(60s));
  EXPECT_EQ(lasting.token(within(60s)), first);
  EXPECT_EQ(calls(), 1U);
  EXPECT_TRUE(lasting.renew(first, 0, within(60s)));
  EXPECT_NE(lasting.token(within(60s)), first);
  EXPECT_EQ(calls(), 2U);

  Credentials expired(config_with(says(R"({"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"})")));
  ASSERT_TRUE(expired.start());
  (void)expired.token(within(60s));
  EXPECT_EQ(calls(), 4U);
}

TEST_F(ExecPluginTest, its_certificate_takes_the_place_of_the_kubeconfigs) {
  Credentials who(config_with(says(R"({"clientCertificateData":"cert","clientKeyData":"key"})")));
  ASSERT_TRUE(who.start());
  http::TlsOptions options{.certificate = "old", .key = "old"};
  who.apply_certificate(options);
  EXPECT_EQ(options.certificate, "cert");
  EXPECT_EQ(options.key, "key");
  EXPECT_EQ(who.certificates(), 1U);
  EXPECT_FALSE(who.renew("", 1, within(60s))) << "it gives the same again";
  EXPECT_TRUE(who.renew("", 0, within(60s))) << "that was another one";
  EXPECT_EQ(calls(), 2U) << "which is not asked for once more";
}

// What a user has beside a plugin, and whom the server is shown then: as kubectl has it, the plugin is asked only where
// nothing else says who we are (client-go, Authenticator.UpdateTransportConfig).
class PluginBeside : public ExecPluginTest {
 protected:
  // The headers of a call; the first of all is refused, and from then on the token's file has another.
  std::vector<std::string> shown(Config config) {
    std::vector<std::string> out;
    http::ScriptedServer server([&](http::ScriptedServer& self, const http::ScriptedServer::Call& call) {
      out.emplace_back(http::find(call.request.headers, "authorization").value_or("none"));
      EXPECT_TRUE(base::write_file(folder_ / "token", "new"));
      self.answer(call, out.size() == 1 ? 401 : 200, "");
    });
    config.server = server.url();
    config.ca.data = server.trust().ca;
    config.plugin = says(R"({"token":"plugins"})");
    const auto client = Client::connect(config);
    EXPECT_TRUE(client) << client.error().message();
    for (int i = 0; i < 2 && client; ++i) {
      (void)(*client)->send({.method = "GET", .target = "/", .headers = {}, .body = {}}, within(60s));
    }
    server.close();
    return out;
  }
};

TEST_F(PluginBeside, a_token_is_shown_instead_also_after_it_was_refused) {
  Config config;
  config.token = "own";
  EXPECT_EQ(shown(config), (std::vector<std::string>{"Bearer own", "Bearer own"}));
  EXPECT_EQ(calls(), 0U);
}

TEST_F(PluginBeside, a_token_file_is_shown_instead_and_read_again_after_it_was_refused) {
  Config config;
  config.token_file = folder_ / "token";
  EXPECT_TRUE(base::write_file(config.token_file, "old"));
  EXPECT_EQ(shown(config), (std::vector<std::string>{"Bearer old", "Bearer new", "Bearer new"}));
  EXPECT_EQ(calls(), 0U);
}

TEST_F(PluginBeside, a_certificate_is_shown_instead) {
  const http::Identity own = http::make_identity("DNS:own");
  Config config;
  config.certificate.data = own.certificate;
  config.key.data = own.key;
  EXPECT_EQ(shown(config), (std::vector<std::string>{"none", "none"}));
  EXPECT_EQ(calls(), 0U);
}

TEST_F(PluginBeside, nothing_is_shown_instead_where_there_is_nothing) {
  EXPECT_EQ(shown({}), (std::vector<std::string>{"Bearer plugins", "Bearer plugins"}));
  EXPECT_EQ(calls(), 2U) << "at first, and once it was refused";
}

// A plugin whose first answer has expired at once, and what it does from then on.
class FailingPlugin : public ExecPluginTest {
 protected:
  ExecPlugin then_does(const std::string& body) {
    return says(R"({"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"})",
                fmt::format("test $(wc -l < '{}/calls') = 1 || {{ {}; }}", folder_.native(), body));
  }
};
;

TEST_F(FailingPlugin, one_that_hangs_holds_a_call_no_longer_than_the_call_may_take) {
  http::ScriptedServer server(http::echo);
  Config config = config_with(then_does("exec sleep 600"));
  config.server = server.url();
  config.insecure = true;
  const auto client = Client::connect(config);
  ASSERT_TRUE(client) << client.error().message();
  const Limit limit = within(1s);
  const auto answer = (*client)->get({"", "v1", "nodes", false}, {"", "a"}, limit);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), base::Fault::timeout) << answer.error().message();
  EXPECT_LT(base::now(), limit.deadline + 30s) << "a plugin's own time is longer";
}

TEST_F(FailingPlugin, who_waits_for_another_callers_plugin_leaves_in_time_and_who_is_stopped_at_once) {
  Credentials who(config_with(then_does("exec sleep 600")));
  ASSERT_TRUE(who.start());
  std::stop_source stop;
  const Limit patient = within(50s, stop.get_token());
  std::atomic<bool> is_back = false;
  std::jthread other([&] {
    (void)who.token(patient);
    is_back = true;
  });
  while (calls() < 2) std::this_thread::yield();
  EXPECT_EQ(who.token(within(100ms)), "t") << "the last it had";
  EXPECT_EQ(who.certificates(), 0U);
  EXPECT_FALSE(is_back);
  EXPECT_EQ(calls(), 2U) << "one at a time";
  stop.request_stop();
  other.join();
  EXPECT_LT(base::now(), patient.deadline);
}

TEST_F(FailingPlugin, one_that_has_failed_is_left_alone_for_a_while_and_asked_again) {
  Credentials who(config_with(then_does("exit 3")));
  ASSERT_TRUE(who.start());
  constexpr std::size_t kCallers = 5;
  for (std::size_t i = 0; i < kCallers; ++i) EXPECT_EQ(who.token(within(60s)), "t");
  const std::size_t asked = calls() - 1;
  EXPECT_GE(asked, 1U);
  EXPECT_LT(asked, kCallers) << "not by each of them";
  for (const auto until = http::soon(60s); calls() - 1 == asked && base::now() < until;) (void)who.token(within(60s));
  EXPECT_GT(calls() - 1, asked);
}

// The server only knows that it has been shown an old token.
TEST_F(FailingPlugin, a_refused_call_says_why_there_was_no_newer_credential_until_there_is) {
  const fs::path hold = folder_ / "hold";
  EXPECT_TRUE(base::write_file(hold, ""));
  http::ScriptedServer server(
      [](http::ScriptedServer& self, const http::ScriptedServer::Call& call) { self.answer(call, 401, "who?"); });
  Config config = config_with(then_does(fmt::format("test ! -e '{}' || exit 3", hold.native())));
  config.server = server.url();
  config.ca.data = server.trust().ca;
  const auto client = Client::connect(config);
  ASSERT_TRUE(client) << client.error().message();
  const std::string why =
      fmt::format("getting credentials: credential plugin {}/plugin: exit code 3: ", folder_.native());
  const auto refused = [&] { return (*client)->get({"", "v1", "nodes", false}, {"", "a"}, within(60s)).error(); };
  EXPECT_EQ(refused().message(), "GET /api/v1/nodes/a: " + why + "401 who?");
  EXPECT_EQ(refused().status->code, 401);
  EXPECT_EQ(refused().fault(), base::Fault::denied);
  const auto watched = (*client)->watch({"", "v1", "nodes", false}, {.selection = {}, .timeout = 1s}, within(60s));
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().message(), why + "401 who?");
  fs::remove(hold);
  std::string message;
  for (const auto until = http::soon(60s); message != "GET /api/v1/nodes/a: 401 who?" && base::now() < until;) {
    message = refused().message();
  }
  EXPECT_EQ(message, "GET /api/v1/nodes/a: 401 who?") << "it is not the plugin's fault any more";
}

TEST_F(FailingPlugin, what_it_said_is_in_no_error) {
  for (const std::string answer : {"secret", R"({"status":{"token":"secret"}})",
                                   R"({"kind":"ExecCredential","apiVersion":"secret","status":{"token":"secret"}})"}) {
    (void)fs::remove(folder_ / "calls");
    Credentials who(config_with(then_does(fmt::format("echo '{}'; exit 0", answer))));
    ASSERT_TRUE(who.start());
    EXPECT_EQ(who.token(within(60s)), "t");
    EXPECT_TRUE(who.problem().starts_with("credential plugin")) << who.problem();
    EXPECT_EQ(who.problem().find("secret"), std::string::npos) << who.problem();
  }
}

// Who has less time than it takes is no reason for others to be without an answer.
TEST_F(FailingPlugin, one_that_was_given_up_by_a_hasty_caller_is_asked_by_the_next) {
  const fs::path hold = folder_ / "hold";
  Credentials who(config_with(then_does(fmt::format("test -e '{}' && exec sleep 600", hold.native()))));
  ASSERT_TRUE(who.start());
  EXPECT_TRUE(base::write_file(hold, ""));
  (void)who.token(within(200ms));
  const std::size_t before = calls();
  fs::remove(hold);
  (void)who.token(within(60s));
  EXPECT_EQ(calls(), before + 1);
}

// A server that tells which connection it was asked on, for a plugin that gives nothing but certificates: a new one is
// used when there is a new connection.
class CertificatePlugin : public ExecPluginTest {
 protected:
  // What the plugin says when it is asked for the first time, for the second...
  void then_says(const http::Identity& identity, const std::string& expires = {}) {
    const auto answer = json::object([&](json::Object& out) {
      out.put("apiVersion", kVersion);
      out.put("kind", "ExecCredential");
      out.object("status", [&](json::Object& status) {
        status.put("clientCertificateData", identity.certificate);
        status.put("clientKeyData", identity.key);
        status.put_unless_empty("expirationTimestamp", expires);
      });
    });
    EXPECT_TRUE(base::write_file(folder_ / fmt::format("answer-{}", ++answers_), answer));
  }
  std::unique_ptr<Client> connect() {
    const auto script = fmt::format("cat {0}/answer-$(wc -l < {0}/calls)", folder_.native());
    Config config = config_with(plugin(script));
    config.server = server_.url();
    config.ca.file = folder_ / "ca.crt";
    EXPECT_TRUE(base::write_file(config.ca.file, server_.trust().ca));
    auto client = Client::connect(config);
    return client ? *std::move(client) : nullptr;
  }
  // The number of the connection, or the error.
  static std::string connection_of_call(Client& client) {
    const auto answer = client.send({.method = "GET", .target = "/", .headers = {}, .body = {}}, within(60s));
    return answer ? answer->body : answer.error().message();
  }

  std::atomic<int> refused_ = 0;  // So many connections, the first of all.
  const http::Identity first_ = http::make_identity("DNS:first");
  const http::Identity second_ = http::make_identity("DNS:second");

 private:
  int answers_ = 0;
  http::ScriptedServer server_{[this](http::ScriptedServer& self, const http::ScriptedServer::Call& call) {
    self.answer(call, call.connection <= refused_ ? 401 : 200, std::to_string(call.connection));
  }};
};

constexpr auto kLongAgo = "2020-01-01T00:00:00Z";

TEST_F(CertificatePlugin, a_certificate_that_is_refused_is_replaced_and_the_call_repeated_with_it) {
  refused_ = 1;
  then_says(first_);
  then_says(second_);
  const auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_EQ(connection_of_call(*client), "2");
  EXPECT_EQ(calls(), 2U);
}

TEST_F(CertificatePlugin, a_certificate_that_has_expired_is_replaced_before_the_call) {
  then_says(first_, kLongAgo);
  then_says(first_, kLongAgo);
  then_says(second_);
  const auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_EQ(connection_of_call(*client), "1");
  EXPECT_EQ(connection_of_call(*client), "2");
  EXPECT_EQ(connection_of_call(*client), "2");
  EXPECT_EQ(calls(), 3U);
}

TEST_F(CertificatePlugin, a_new_certificate_that_could_not_be_used_at_once_is_used_later) {
  then_says(first_, kLongAgo);
  then_says(first_, kLongAgo);
  then_says(second_);
  const auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_EQ(connection_of_call(*client), "1");
  fs::rename(folder_ / "ca.crt", folder_ / "away");
  EXPECT_EQ(connection_of_call(*client), "1");
  fs::rename(folder_ / "away", folder_ / "ca.crt");
  std::string connection;
  for (const auto until = http::soon(60s); connection != "2" && base::now() < until;)
    connection = connection_of_call(*client);
  EXPECT_EQ(connection, "2");
}

}  // namespace
}  // namespace kube
