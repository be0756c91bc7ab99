#include "cli/kubectl_proxy.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/file.h"

namespace cli {
namespace {

using namespace std::chrono_literals;

void nobody(int) {}

// A kubectl that serves nothing.
class KubectlProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "kubectl-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_TRUE(base::write_file(folder_ / "kubectl", "#!/bin/sh\necho Starting to serve\nexec sleep 60\n"));
    std::filesystem::permissions(folder_ / "kubectl", std::filesystem::perms::owner_all);
    path_ = std::getenv("PATH");                                                  // NOLINT(concurrency-mt-unsafe)
    ASSERT_EQ(::setenv("PATH", (folder_.native() + ":" + path_).c_str(), 1), 0);  // NOLINT(concurrency-mt-unsafe)
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::remove_all(folder_);
    for (const int signal : {SIGHUP, SIGTERM}) ::signal(signal, SIG_DFL);
  }
  static auto handler_of(int signal) {
    struct sigaction now{};
    EXPECT_EQ(::sigaction(signal, nullptr, &now), 0);
    return now.sa_handler;
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(KubectlProxyTest, handlers_of_others_come_back_and_what_is_ignored_stays_ignored) {
  ::signal(SIGHUP, SIG_IGN);  // As nohup does.
  ::signal(SIGTERM, nobody);
  {
    const auto proxy = KubectlProxy::start({}, 10s);
    ASSERT_TRUE(proxy) << proxy.error().message();
    EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
    EXPECT_NE(handler_of(SIGTERM), nobody);
    EXPECT_NE(handler_of(SIGINT), SIG_DFL);
  }
  EXPECT_EQ(handler_of(SIGTERM), nobody);
  EXPECT_EQ(handler_of(SIGINT), SIG_DFL);
}

}  // namespace
}  // namespace cli
