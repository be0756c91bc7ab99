#include "kube/exec_plugin.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "kube/credentials.h"

namespace kube {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kVersion = "client.authentication.k8s.io/v1";

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
  // Says `status`, where $token and the like are the shell's.
  ExecPlugin says(const std::string& status) {
    return plugin(fmt::format(R"(cat <<END
{{"apiVersion":"{}","kind":"ExecCredential","status":{}}}
END)",
                              kVersion, status));
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
  EXPECT_EQ(with_status(R"({"token":"secret"})"), "taken");
}

TEST_F(ExecPluginTest, it_is_told_what_it_is_asked_for_and_given_its_arguments) {
  ExecPlugin one = plugin(R"(test "$1" = get-token && test "$REGION" = north || exit 7
case $KUBERNETES_EXEC_INFO in *'"server":"https://api"'*) ;; *) exit 8 ;; esac
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}')");
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
  const std::string first = lasting.token();
  EXPECT_EQ(lasting.token(), first);
  EXPECT_EQ(calls(), 1U);
  EXPECT_TRUE(lasting.renew(first));
  EXPECT_NE(lasting.token(), first);
  EXPECT_EQ(calls(), 2U);

  Credentials expired(config_with(says(R"({"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"})")));
  ASSERT_TRUE(expired.start());
  (void)expired.token();
  EXPECT_EQ(calls(), 4U);
}

TEST_F(ExecPluginTest, its_certificate_takes_the_place_of_the_kubeconfigs) {
  Credentials who(config_with(says(R"({"clientCertificateData":"cert","clientKeyData":"key"})")));
  ASSERT_TRUE(who.start());
  http::TlsOptions options{.certificate = "old", .key = "old"};
  who.apply_certificate(options);
  EXPECT_EQ(options.certificate, "cert");
  EXPECT_EQ(options.key, "key");
  EXPECT_FALSE(who.certificate_changed()) << "the first is no change";
}

}  // namespace
}  // namespace kube
