#include "agent/folder_source.h"

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/file.h"

namespace agent {
namespace {

TEST(FolderSource, rules_of_others_are_treated_as_the_agent_in_the_folder_says) {
  std::string pattern = (std::filesystem::temp_directory_path() / "folder-XXXXXX").native();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  runtime::Signal changed;
  const auto source = FolderSource::open(folder, "worker-1", changed);
  ASSERT_TRUE(source) << source.error().message();
  const state::NetState kernel;
  const state::NodeFacts facts;
  const Sight sight{.kernel = &kernel, .facts = facts, .verified = true};
  const auto order = [&] { return (*source)->latest(sight).value().foreign_rules; };
  EXPECT_FALSE(order()) << "nobody has said anything";

  const std::string agent = "kind: Agent\nmetadata: {name: agent}\nspec: {foreignRules: ";
  ASSERT_TRUE(
      base::write_file(folder / "a.yaml", agent + "{policy: Prune, tables: [100], sources: [10.96.0.0/16]}}\n"));
  ASSERT_TRUE(order());
  EXPECT_TRUE(order()->prunes);
  EXPECT_EQ(order()->scope.tables, std::vector<std::uint32_t>{100});
  ASSERT_TRUE(base::write_file(folder / "a.yaml", agent + "{policy: Ignore}}\n"));
  EXPECT_FALSE(order());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace agent
