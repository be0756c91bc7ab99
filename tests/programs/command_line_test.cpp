#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/version.h"
#include "run.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class EveryProgram : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram, testing::Values(IPRULE_CONTROLLER, IPRULE_AGENT, IPRULECTL),
                         [](const auto& program) {
                           std::string name = program.param;
                           name = name.substr(name.rfind('/') + 1);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryProgram, says_version_commit_compiler_and_build) {
  const auto done = run({GetParam(), "--version"});
  EXPECT_EQ(done.exit.code, 0);
  const std::string program = std::string(GetParam()).substr(std::string(GetParam()).rfind('/') + 1);
  EXPECT_EQ(done.output, base::version_text(program) + "\n");
}

TEST_P(EveryProgram, refuses_an_unknown_flag_with_2_and_names_it) {
  const auto done = run({GetParam(), "--no-such-flag"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_THAT(done.errors + done.output, HasSubstr("--no-such-flag"));
}

TEST(CommandLine, a_kubeconfig_that_is_not_there_is_named) {
  for (const auto* program : {IPRULE_CONTROLLER, IPRULE_AGENT}) {
    const auto done = run({program, "--kubeconfig", "/nonexistent/config"});
    EXPECT_EQ(done.exit.code, 1);
    EXPECT_THAT(done.output, HasSubstr("/nonexistent/config"));
  }
}

// What it says on its way out.
std::string refusal_of_an_unchecked_server(const char* program) {
  const testbed::TempFolder folder;
  const auto kubeconfig = folder / "kubeconfig";
  EXPECT_TRUE(base::write_file(kubeconfig,
                               "current-context: c\n"
                               "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', "
                               "insecure-skip-tls-verify: true}}]\n"
                               "contexts: [{name: c, context: {cluster: c}}]\n"));
  const auto done = run({program, "--kubeconfig", kubeconfig.native()});
  EXPECT_EQ(done.exit.code, 1);
  return done.output;
}

constexpr const char* kUncheckedServer =
    "https://127.0.0.1:1: insecure-skip-tls-verify is for people's tools only; name the server's certificate-authority "
    "instead, and tls-server-name where its certificate is for another name";

TEST(CommandLine, the_agent_refuses_a_server_that_it_could_not_check) {
  EXPECT_THAT(refusal_of_an_unchecked_server(IPRULE_AGENT), HasSubstr(kUncheckedServer));
}

TEST(CommandLine, the_controller_refuses_a_server_that_it_could_not_check) {
  EXPECT_THAT(refusal_of_an_unchecked_server(IPRULE_CONTROLLER), HasSubstr(kUncheckedServer));
}

TEST(CommandLine, the_controller_names_the_flag_that_was_meant) {
  const auto done = run({IPRULE_CONTROLLER, "--leader-elct=true"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.errors, "iprule-controller: unknown flag \"--leader-elct\"; did you mean \"--leader-elect\"?\n");
}

// Every flag of the old project's manager, as its manifests and Go's flag package allow to write them.
TEST(CommandLine, the_controller_takes_every_flag_of_the_old_project) {
  const auto done =
      run({IPRULE_CONTROLLER, "--metrics-bind-address=:8443", "--health-probe-bind-address", ":8081", "-leader-elect",
           "--metrics-secure=false", "--metrics-cert-path=/c", "--metrics-cert-name=a", "--metrics-cert-key=b",
           "--webhook-cert-path=/w", "--webhook-cert-name=a", "--webhook-cert-key=b", "--enable-http2=false",
           "--zap-devel=false", "--zap-encoder=console", "--zap-log-level=5", "--zap-stacktrace-level=error",
           "--zap-time-encoding=rfc3339", "-kubeconfig=/nonexistent/config"});
  EXPECT_EQ(done.exit.code, 1);
  EXPECT_THAT(done.output,
              HasSubstr("\tERROR\tcontroller\tcannot run\t{\"err\":\"/nonexistent/config: no such file\"}"));
}

TEST(CommandLine, a_log_level_that_does_not_exist_names_the_flag_and_the_choices) {
  const auto done = run({IPRULE_CONTROLLER, "--zap-log-level=loud"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_THAT(done.errors, HasSubstr("--zap-log-level"));
  EXPECT_THAT(done.errors, HasSubstr("\"loud\" is none of debug"));
}

TEST(CommandLine, an_address_the_controller_cannot_listen_on_names_the_flag) {
  const testbed::TempFolder folder;
  const auto kubeconfig = folder / "kubeconfig";
  ASSERT_TRUE(base::write_file(kubeconfig,
                               "current-context: c\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                               "contexts: [{name: c, context: {cluster: c}}]\n"));
  for (const std::string flag : {"--health-probe-bind-address", "--metrics-bind-address"}) {
    const auto done = run({IPRULE_CONTROLLER, "--kubeconfig=" + kubeconfig.native(), flag + "=192.0.2.1:80"});
    EXPECT_EQ(done.exit.code, 1);
    EXPECT_THAT(done.output, HasSubstr(flag + ": "));
    const auto unreadable = run({IPRULE_CONTROLLER, "--kubeconfig=" + kubeconfig.native(), flag + "=9090"});
    EXPECT_EQ(unreadable.exit.code, 1);
    EXPECT_THAT(unreadable.output, HasSubstr(flag + ": "));
  }
}

TEST(CommandLine, a_folder_that_is_not_there_is_named) {
  const auto done = run({IPRULE_AGENT, "standalone", "/nonexistent/folder"});
  EXPECT_EQ(done.exit.code, 1);
  EXPECT_THAT(done.output, HasSubstr("/nonexistent/folder"));
}

class ServiceSettings : public testing::Test {
 protected:
  testbed::Finished run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    const auto done = testbed::run({.arguments = std::move(arguments), .environment = std::move(environment)}, 30s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  // The line of a --print-config page, blanks made one.
  static std::string line(const std::string& page, const std::string& key) {
    const auto at = page.find(key + ": ");
    if (at == std::string::npos) return "";
    std::string out;
    for (const char c : page.substr(at, page.find('\n', at) - at)) {
      if (c != ' ' || !out.ends_with(' ')) out += c;
    }
    return out;
  }
  std::string file(const std::string& text) {
    EXPECT_TRUE(base::write_file(folder_ / "settings.yaml", text));
    return (folder_ / "settings.yaml").native();
  }

  testbed::TempFolder folder_;
};

TEST_F(ServiceSettings, the_flag_beats_the_environment_beats_the_file_beats_the_default) {
  const std::string path = file("metricsBindAddress: ':1'\nleaderElect: true\nabsentDelay: 3s\n");
  const std::vector<std::string> command = {IPRULE_CONTROLLER, "--config", path, "--absent-delay=5s", "--print-config"};
  const auto done = run(command, {"IPRULE_METRICS_BIND_ADDRESS=:2", "IPRULE_ABSENT_DELAY=4s"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(line(done.output, "absentDelay"), "absentDelay: 5s # flag --absent-delay");
  EXPECT_EQ(line(done.output, "metricsBindAddress"), "metricsBindAddress: \":2\" # env IPRULE_METRICS_BIND_ADDRESS");
  EXPECT_EQ(line(done.output, "leaderElect"), "leaderElect: true # file " + path);
  EXPECT_EQ(line(done.output, "metricsSecure"), "metricsSecure: true # default");
}

TEST_F(ServiceSettings, an_agents_own_variables_keep_their_names) {
  const auto done = run({IPRULE_AGENT, "--print-config"},
                        {"NODE_NAME=worker-1", "METRICS_ADDR=", "LOG_LEVEL=debug", "IPRULE_ZAP_LOG_LEVEL=error"});
  EXPECT_EQ(line(done.output, "nodeName"), "nodeName: worker-1 # env NODE_NAME");
  EXPECT_EQ(line(done.output, "metricsBindAddress"), "metricsBindAddress: \"\" # env METRICS_ADDR");
  EXPECT_EQ(line(done.output, "zapLogLevel"), "zapLogLevel: error # env IPRULE_ZAP_LOG_LEVEL");
  EXPECT_EQ(line(done.output, "ruleProtocol"), "ruleProtocol: 183 # default");
}

TEST_F(ServiceSettings, what_is_printed_is_a_file_that_means_the_same) {
  for (const auto* program : {IPRULE_CONTROLLER, IPRULE_AGENT}) {
    const auto first = run({program, "--print-config"}, {"IPRULE_KUBECONFIG=/a b/'c\": #d"});
    const auto again = run({program, "--config=" + file(first.output), "--print-config"});
    EXPECT_EQ(again.exit.code, 0) << again.errors;
    const auto values = [](const std::string& page) {
      std::string out;
      for (std::size_t at = 0; at < page.size(); at = page.find('\n', at) + 1) {
        out += page.substr(at, page.find(" # ", at) - at) + "\n";
      }
      return out;
    };
    EXPECT_EQ(values(again.output), values(first.output));
  }
}

TEST_F(ServiceSettings, an_unknown_key_names_the_file_and_the_nearest_one) {
  const std::string path = file("leaderElct: true\n");
  const auto done = run({IPRULE_CONTROLLER, "--config", path});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.errors,
            "iprule-controller: " + path + ": unknown key \"leaderElct\"; did you mean \"leaderElect\"?\n");
}

TEST_F(ServiceSettings, a_file_that_is_no_yaml_names_line_and_column) {
  const std::string path = file("leaderElect: [\n");
  const auto done = run({IPRULE_AGENT, "--config", path});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_THAT(done.errors, HasSubstr(path + ":"));
}

}  // namespace
