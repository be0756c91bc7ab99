#include "agent/presence.h"

#include <optional>
#include <unistd.h>

#include <gtest/gtest.h>

namespace agent {
namespace {

TEST(Presence, is_told_as_long_as_it_lasts_and_by_one_at_a_time) {
  std::string pattern = (std::filesystem::temp_directory_path() / "presence-XXXXXX").native();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  EXPECT_FALSE(is_announced(folder).value()) << "nobody ever was";
  {
    const auto one = Presence::announce(folder);
    ASSERT_TRUE(one) << one.error().message();
    EXPECT_TRUE(is_announced(folder).value());
    EXPECT_TRUE(is_announced(folder).value()) << "to ask changes nothing";
    const auto other = Presence::announce(folder);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().fault(), base::Fault::conflict);
  }
  EXPECT_FALSE(is_announced(folder).value()) << "the file is there, and nobody";
  EXPECT_TRUE(Presence::announce(folder));
  EXPECT_FALSE(is_announced(folder / "none").value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace agent
