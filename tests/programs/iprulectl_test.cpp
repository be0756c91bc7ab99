// iprulectl as a person or a script meets it: words, exit codes, formats, completion.
#include <chrono>
#include <filesystem>
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
using testing::StartsWith;

TEST(Iprulectl, an_unknown_word_is_answered_with_the_nearest_one_and_2) {
  const auto command = run({IPRULECTL, "verson"});
  EXPECT_EQ(command.exit.code, 2);
  EXPECT_THAT(command.errors, StartsWith("iprulectl: unknown command \"verson\"; did you mean \"version\"?\n"));
  EXPECT_EQ(command.output, "");

  const auto flag = run({IPRULECTL, "version", "--ouput=json"});
  EXPECT_EQ(flag.exit.code, 2);
  EXPECT_THAT(flag.errors, StartsWith("iprulectl: unknown flag \"--ouput\"; did you mean \"--output\"?\n"));

  // Also where it stands behind the command, or is the one that must be given.
  EXPECT_THAT(run({IPRULECTL, "version", "--colour=never"}).errors, HasSubstr("did you mean \"--color\"?\n"));
  EXPECT_THAT(run({IPRULECTL, "plan", "--file", "x"}).errors, HasSubstr("did you mean \"--filename\"?\n"));

  const auto value = run({IPRULECTL, "version", "-o", "xml"});
  EXPECT_EQ(value.exit.code, 2);
  EXPECT_THAT(value.errors, HasSubstr("xml"));
}

TEST(Iprulectl, what_was_typed_never_reaches_the_terminal_raw) {
  const auto done = run({IPRULECTL, "\x1b[2Jx"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_THAT(done.errors, HasSubstr("\\x1b[2Jx"));
  EXPECT_EQ(done.errors.find('\x1b'), std::string::npos);
}

// What comes of it where a kubeconfig says this of its user, and a flag that of whom to be.
std::string version_as(const std::string& user, const std::string& flag, const std::string& value) {
  const testbed::TempFolder folder;
  const auto kubeconfig = folder / "kubeconfig";
  EXPECT_TRUE(base::write_file(kubeconfig,
                               "current-context: c\n"
                               "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                               "users: [{name: u, user: {" +
                                   user +
                                   "}}]\n"
                                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n"));
  const auto done = run({IPRULECTL, "version", "--kubeconfig", kubeconfig.native(), flag, value});
  return done.output + done.errors;
}

TEST(Iprulectl, a_group_of_nobody_is_refused_and_one_of_the_kubeconfigs_user_is_not) {
  EXPECT_THAT(version_as("", "--as-group", "readers"), HasSubstr("--as-group: no user to be; --as names one"));
  EXPECT_THAT(version_as("as: jane", "--as-group", "readers"),
              testing::AllOf(HasSubstr("127.0.0.1:1"), testing::Not(HasSubstr("--as-group"))))
      << "the server is asked";
}

TEST(Iprulectl, the_kubeconfigs_groups_of_nobody_are_those_of_who_is_named) {
  EXPECT_THAT(version_as("as-groups: [readers]", "--as", "jane"),
              testing::AllOf(HasSubstr("127.0.0.1:1"), testing::Not(HasSubstr("as-groups"))))
      << "the server is asked";
}

TEST(Iprulectl, says_its_version_to_people_and_programs) {
  EXPECT_EQ(run({IPRULECTL, "version", "--client"}).output, base::version_text("iprulectl") + "\n");
  const std::string version(base::version());
  EXPECT_THAT(
      run({IPRULECTL, "version", "--client", "-o", "json"}).output,
      StartsWith(R"({"apiVersion":"api.operator.brtrm.dev/v1alpha1","kind":"VersionReport","client":{"version":")" +
                 version));
  EXPECT_THAT(
      run({IPRULECTL, "version", "--client", "-o", "yaml"}).output,
      StartsWith("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: VersionReport\nclient:\n  version: \"" + version));
}

TEST(Iprulectl, without_a_cluster_it_knows_its_own_version_only) {
  const auto done = run({IPRULECTL, "version", "--kubeconfig", "/nonexistent/config"});
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_EQ(done.output, base::version_text("iprulectl") + "\n");
  EXPECT_THAT(done.errors, HasSubstr("/nonexistent/config"));
}

// Those that people know from kubectl where they mean something, and each command's own.
TEST(Iprulectl, every_command_has_its_flags) {
  const std::vector<std::string> cluster = {"--kubeconfig", "--context", "--cluster",         "--user", "--as",
                                            "--as-group",   "--via",     "--request-timeout", "-v,--v"};
  const std::vector<std::string> list = {"-o,--output", "wide|name", "--no-headers", "--sort-by"};
  const std::vector<std::string> nodes = {"--node", "-l,--selector", "--field-selector"};
  struct Expected {
    std::string command;
    std::vector<std::vector<std::string>> shared;
    std::vector<std::string> own;
  };
  const std::vector<Expected> all = {
      {"status", {cluster, list, nodes}, {"--wait", "-w,--watch", "--nodes", "--standalone"}},
      {"plan", {cluster, nodes}, {"-f,--filename", "--offline", "--state", "--full", "--standalone", "-o,--output"}},
      {"diff", {cluster, nodes}, {"--class", "rule|nft", "--foreign", "--standalone", "-o,--output"}},
      {"explain",
       {cluster, list, nodes},
       {"-n,--namespace", "-A,--all-namespaces", "-f,--filename", "--client", "--from", "--to", "--proto", "--dport",
        "--iif", "--mark", "--live", "--offline", "--state"}},
      {"doctor", {cluster, nodes}, {"--local", "--preflight", "--offline", "--state", "-o,--output"}},
      {"drift", {cluster, list, nodes}, {"--since", "-w,--watch", "--standalone"}},
      {"analyze", {cluster, list}, {"-f,--filename", "--use-cluster", "--fail-on", "--ignore"}},
      {"import", {}, {"--rules", "--to", "--name"}},
      {"lab", {}, {"--scenario", "--keep", "--shell", "--pcap", "--list"}},
      {"version", {cluster}, {"--client", "-o,--output"}},
      {"completion", {}, {"-h,--help"}},
  };
  for (const Expected& expected : all) {
    const std::string help = run({IPRULECTL, expected.command, "--help"}).output;
    std::vector<std::string> flags = expected.own;
    for (const auto& more : expected.shared) flags.insert(flags.end(), more.begin(), more.end());
    for (const std::string& flag : flags) EXPECT_THAT(help, HasSubstr(flag)) << expected.command;
  }
}

TEST(Iprulectl, what_only_a_list_has_is_refused_elsewhere) {
  EXPECT_EQ(run({IPRULECTL, "status", "-o", "name"}).exit.code, 2);
  EXPECT_EQ(run({IPRULECTL, "explain", "IPR0301", "-A"}).exit.code, 2);
  const auto packet = run({IPRULECTL, "explain", "--to", "198.18.7.9", "--sort-by", ".name"});
  EXPECT_EQ(packet.exit.code, 2);
  EXPECT_THAT(packet.errors, HasSubstr("are for lists: svc, ns/NAME"));
  EXPECT_THAT(run({IPRULECTL, "plan", "-f", "x.yaml", "-o", "name"}).errors,
              HasSubstr("\"name\" is none of text, json, yaml"));
  EXPECT_THAT(run({IPRULECTL, "drift", "--no-header"}).errors, HasSubstr("did you mean \"--no-headers\"?"));
}

TEST(Iprulectl, started_as_kubectls_plugin_it_says_what_to_type_there) {
  testbed::TempFolder folder;
  std::filesystem::create_symlink(IPRULECTL, folder / "kubectl-iprule");
  EXPECT_THAT(run({(folder / "kubectl-iprule").native(), "--help"}).output, HasSubstr("Usage: kubectl iprule"));
}

TEST(Iprulectl, kubectl_completes_its_words) {
  testbed::TempFolder folder;
  std::filesystem::create_symlink(IPRULECTL, folder / "kubectl_complete-iprule");
  const std::string program = (folder / "kubectl_complete-iprule").native();
  EXPECT_THAT(run({program, "ver"}).output, testing::MatchesRegex("version\t[^\n]+\n:4\n"));
  EXPECT_EQ(run({program, "analyze", "-f", ""}).output, ":0\n") << "files";
}

TEST(Iprulectl, bash_completes_its_words) {
  testbed::TempFolder folder;
  std::filesystem::create_symlink(IPRULECTL, folder / "iprulectl");
  const auto done =
      run({"bash", "-c",
           "PATH=" + folder.path().native() +
               ":$PATH; source <(iprulectl completion bash); COMP_WORDS=(iprulectl completion z); "
               "COMP_CWORD=2; _iprulectl; echo ${COMPREPLY[@]}; COMP_WORDS=(iprulectl ver); COMP_CWORD=1; "
               "_iprulectl; echo ${COMPREPLY[@]}"});
  EXPECT_EQ(done.output, "zsh\nversion\n") << done.errors;
}

TEST(Iprulectl, completion_is_installed_for_the_shell_and_for_kubectl) {
  testbed::TempFolder folder;
  std::filesystem::copy(IPRULECTL, folder / "iprulectl");
  const auto install = [&](const std::string& shell) {
    const auto done = testbed::run({.arguments = {(folder / "iprulectl").native(), "completion", "install"},
                                    .environment = {"HOME=" + folder.path().native(), "SHELL=" + shell}},
                                   30s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  };
  EXPECT_EQ(install("/bin/bash").exit.code, 0);
  EXPECT_EQ(install("/bin/bash").exit.code, 0) << "again";
  EXPECT_EQ(base::read_file(folder / ".local/share/bash-completion/completions/iprulectl").value(),
            run({IPRULECTL, "completion", "bash"}).output);
  EXPECT_THAT(run({(folder / "kubectl_complete-iprule").native(), "ver"}).output, HasSubstr("version\t"));
  EXPECT_EQ(install("/usr/bin/fish").exit.code, 0);
  EXPECT_EQ(base::read_file(folder / ".config/fish/completions/iprulectl.fish").value(),
            run({IPRULECTL, "completion", "fish"}).output);

  const auto zsh = install("/bin/zsh");
  const std::string functions = (folder / ".local/share/zsh/site-functions").native();
  EXPECT_EQ(zsh.exit.code, 1) << "the person's .zshrc does not name the folder";
  EXPECT_THAT(zsh.output, HasSubstr("before compinit: fpath=('" + functions + "' $fpath)\n"));
  EXPECT_EQ(base::read_file(folder / ".local/share/zsh/site-functions/_iprulectl").value(),
            run({IPRULECTL, "completion", "zsh"}).output);
  ASSERT_TRUE(base::write_file(folder / ".zshrc", "fpath=('" + functions + "' $fpath)\n"));
  EXPECT_EQ(install("/bin/zsh").exit.code, 0);

  const auto other = install("/bin/dash");
  EXPECT_EQ(other.exit.code, 2);
  EXPECT_THAT(other.errors, HasSubstr("none of bash, zsh, fish"));
}

TEST(Iprulectl, manifests_may_come_from_standard_input) {
  const auto done = testbed::run({.arguments = {IPRULECTL, "analyze", "-f", "-"},
                                  .input = "kind: IPRule\nmetadata: {name: a}\nspec:\n  tabel: 7\n"},
                                 30s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->exit.code, 2);
  EXPECT_EQ(done->errors, "iprulectl: standard input:4:10: spec.tabel: unknown field; did you mean table?\n");
}

TEST(Iprulectl, the_example_of_a_host_without_kubernetes_has_no_finding) {
  const auto done = run({IPRULECTL, "analyze", "-f", IPRULE_SOURCE_DIR "/config/standalone/manifests"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output, "0 errors, 0 warnings, 0 info in 2 objects.\n");
}

TEST(Iprulectl, a_file_that_cannot_be_read_is_named_with_line_column_and_field) {
  testbed::TempFolder folder;
  ASSERT_TRUE(base::write_file(folder / "x.yaml", "kind: IPRule\nmetadata: {name: a}\nspec:\n  tabel: 7\n"));
  const auto done = run({IPRULECTL, "analyze", "-f", folder.path().native()});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.errors,
            "iprulectl: " + (folder / "x.yaml").native() + ":4:10: spec.tabel: unknown field; did you mean table?\n");
}

}  // namespace
