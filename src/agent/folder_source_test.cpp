#include "agent/folder_source.h"

#include <filesystem>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

class FolderSourceTest : public testing::Test {
 protected:
  FolderSourceTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "folder-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
    auto opened = FolderSource::open(folder_, "worker-1", changed_);
    EXPECT_TRUE(opened) << opened.error().message();
    source_ = *std::move(opened);
  }
  ~FolderSourceTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(base::write_file(folder_ / name, text)); }
  Wanted look() {
    return source_->latest({.kernel = &kernel_, .facts = facts_, .verified = true, .now = now_}).value();
  }

  std::filesystem::path folder_;
  runtime::Signal changed_;
  std::unique_ptr<FolderSource> source_;
  const state::NetState kernel_;
  const state::NodeFacts facts_;
  base::TimePoint now_{1h};
};

std::string service(int number) {
  return fmt::format(
      "kind: Service\nmetadata: {{name: s{0}, namespace: shop}}\nspec: {{type: LoadBalancer, clusterIPs: "
      "[10.96.0.{0}]}}\nstatus: {{loadBalancer: {{ingress: [{{ip: 203.0.113.{0}}}]}}}}\n---\n",
      number);
}
constexpr const char* kRule = "kind: IPRule\nmetadata: {name: r}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n";

TEST_F(FolderSourceTest, S16_what_a_half_written_file_lacks_counts_until_it_is_still_missing_a_moment_later) {
  write("rule.yaml", kRule);
  write("services.yaml", service(1) + service(2) + service(3));
  EXPECT_EQ(look().state.rules.size(), 3U);
  now_ += 10s;
  write("services.yaml", service(1));
  const Wanted cut = look();
  EXPECT_EQ(cut.state.rules.size(), 3U);
  EXPECT_EQ(cut.look_again, now_ + Vanished::kHold);
  write("services.yaml", "");
  now_ += Vanished::kHold / 2;
  EXPECT_EQ(look().state.rules.size(), 3U);
  write("services.yaml", service(1) + service(2) + service(3));
  now_ += Vanished::kHold;
  EXPECT_EQ(look().state.rules.size(), 3U) << "the writer has finished";
  write("services.yaml", "");
  EXPECT_EQ(look().state.rules.size(), 3U);
  now_ += Vanished::kHold;
  EXPECT_EQ(look().state.rules.size(), 0U) << "meant to be empty";
}

TEST_F(FolderSourceTest, S16_what_was_read_once_confirms_nothing) {
  write("rule.yaml", kRule);
  (void)look();
  EXPECT_FALSE(source_->confirm());
  now_ += Vanished::kHold;
  (void)look();
  EXPECT_TRUE(source_->confirm());
  write("services.yaml", service(1));
  (void)look();
  EXPECT_FALSE(source_->confirm()) << "it says something else now";
}

TEST_F(FolderSourceTest, rules_of_others_are_treated_as_the_agent_in_the_folder_says) {
  const auto order = [&] { return look().foreign_rules; };
  EXPECT_FALSE(order()) << "nobody has said anything";

  const std::string agent = "kind: Agent\nmetadata: {name: agent}\nspec: {foreignRules: ";
  write("a.yaml", agent + "{policy: Prune, tables: [100], sources: [10.96.0.0/16]}}\n");
  ASSERT_TRUE(order());
  EXPECT_TRUE(order()->prunes);
  EXPECT_EQ(order()->scope.tables, std::vector<std::uint32_t>{100});
  write("a.yaml", agent + "{policy: Ignore}}\n");
  EXPECT_FALSE(order());
}

}  // namespace
}  // namespace agent
