#include <filesystem>

#include <gtest/gtest.h>

#include "api.h"
#include "base/file.h"
#include "kube/exec_plugin.h"
#include "testbed/temp_folder.h"

namespace api_test {
namespace {

class PluginTest : public ApiTest {
 protected:
  // A shell script that gives a good token, and keeps count of its runs in a file beside it.
  std::unique_ptr<kube::Client> client_of_plugin(const std::string& expires) {
    auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
    config.certificate = {};
    config.key = {};
    must(client_->create({"", "v1", "serviceaccounts", true}, ns_, R"({"metadata":{"name":"who"}})", soon()));
    const std::string answer = fmt::format(
        R"({{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{}","expirationTimestamp":"{}"}}}})",
        must(cluster_.service_account(ns_, "who")).token, expires);
    const auto script = folder_ / "plugin";
    must(base::write_file(script, fmt::format("#!/bin/sh\necho run >> '{}'\necho '{}'\n", runs_.native(), answer)));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    config.plugin.command = script.native();
    config.plugin.api_version = "client.authentication.k8s.io/v1";
    config.plugin.interactive = kube::ExecPlugin::Interactive::never;
    return must(kube::Client::connect(config));
  }
  // Who is let in may do nothing.
  static int code_of_a_call(kube::Client& client) {
    const auto answer = client.list(kNodes, {}, soon());
    return answer || !answer.error().status ? 0 : answer.error().status->code;
  }
  std::size_t runs() const { return base::read_file(runs_).value_or("").size() / std::string_view("run\n").size(); }

  testbed::TempFolder folder_;
  const std::filesystem::path runs_ = folder_ / "runs";
};

TEST_F(PluginTest, is_run_once_while_its_answer_lasts) {
  const auto client = client_of_plugin("2100-01-01T00:00:00Z");
  EXPECT_EQ(code_of_a_call(*client), 403);
  EXPECT_EQ(code_of_a_call(*client), 403);
  EXPECT_EQ(runs(), 1U);
}

TEST_F(PluginTest, is_run_for_each_call_once_its_answer_has_expired) {
  const auto client = client_of_plugin("2020-01-01T00:00:00Z");
  EXPECT_EQ(code_of_a_call(*client), 403);
  const std::size_t before = runs();
  EXPECT_EQ(code_of_a_call(*client), 403);
  EXPECT_EQ(runs(), before + 1);
}

}  // namespace
}  // namespace api_test
