#include "agent/folder_watch.h"

#include <array>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/file.h"

namespace agent {
namespace {

class FolderWatchTest : public ::testing::Test {
 protected:
  FolderWatchTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "folder-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FolderWatchTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  runtime::Signal changed_;
};

TEST_F(FolderWatchTest, a_written_a_moved_and_a_removed_file_are_noticed) {
  const auto watch = FolderWatch::start(folder_, changed_);
  ASSERT_TRUE(watch);
  ASSERT_TRUE(base::write_file(folder_ / "a.yaml", "x"));
  EXPECT_TRUE(changed_.wait({}));
  std::filesystem::rename(folder_ / "a.yaml", folder_ / "b.yaml");
  EXPECT_TRUE(changed_.wait({}));
  std::filesystem::remove(folder_ / "b.yaml");
  EXPECT_TRUE(changed_.wait({}));
}

TEST_F(FolderWatchTest, a_folder_that_is_not_there_is_refused) {
  EXPECT_FALSE(FolderWatch::start(folder_ / "missing", changed_));
}

}  // namespace
}  // namespace agent
