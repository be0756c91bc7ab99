#include "kernel/journal.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "kernel/journal_file.h"
#include "state/arbitrary_address.h"
#include "state/arbitrary_route.h"

namespace kernel {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "journal-XXXXXX").native();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "claims"; }
  base::Result<Journal> open(std::string boot = "this-boot") const { return Journal::open(file(), std::move(boot)); }

  static Claims some() {
    Claims out;
    out.routes.push_back(state::parse_route(net::Family::v4, "default via 10.0.0.1 dev eth0 proto boot").value());
    out.routes.push_back(state::parse_route(net::Family::v6, "fd00::/8 dev eth0 proto static").value());
    out.addresses.push_back(state::parse_address("10.0.0.2/24 dev eth0").value());
    return out;
  }

  std::filesystem::path folder_;
};

TEST_F(JournalTest, claims_survive_the_process) {
  EXPECT_EQ(open().value().claims(), Claims{}) << "no file: nothing was ever claimed";
  ASSERT_TRUE(open().value().set(some()));
  EXPECT_EQ(open().value().claims(), parse_claims(format_claims(some())).value());
  EXPECT_EQ(open().value().claims().routes.size(), 2);
}

TEST_F(JournalTest, claims_of_another_boot_are_void) {
  ASSERT_TRUE(open("boot-1").value().set(some()));
  EXPECT_EQ(open("boot-2").value().claims(), Claims{});
}

TEST_F(JournalTest, every_damage_makes_it_unknown_and_never_empty) {
  ASSERT_TRUE(open().value().set(some()));
  const std::string whole = base::read_file(file()).value();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    ASSERT_TRUE(base::write_file(file(), changed));
    EXPECT_FALSE(open()) << "byte " << i;
    ASSERT_TRUE(base::write_file(file(), whole.substr(0, i)));
    EXPECT_FALSE(open()) << "cut at " << i;
  }
  ASSERT_TRUE(base::write_file(file(), whole + "x"));
  EXPECT_FALSE(open());
}

TEST_F(JournalTest, file_that_cannot_be_read_is_unknown) {
  std::filesystem::create_directory(file());
  EXPECT_FALSE(open());
}

TEST_F(JournalTest, what_cannot_be_written_changes_nothing) {
  auto journal = open().value();
  ASSERT_TRUE(journal.set(some()));
  std::filesystem::create_directory(file().native() + ".new");  // In the way of the temporary file.
  EXPECT_FALSE(journal.set({}));
  EXPECT_EQ(journal.claims().routes.size(), 2);
  EXPECT_EQ(open().value().claims().routes.size(), 2);
}

TEST_F(JournalTest, same_claims_are_not_written_again) {
  auto journal = open().value();
  ASSERT_TRUE(journal.set(some()));
  std::filesystem::remove(file());
  ASSERT_TRUE(journal.set(some()));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

RC_GTEST_PROP(JournalLaw, claims_survive_their_text, ()) {
  Claims claims;
  claims.routes = {state::arbitrary_route(), state::arbitrary_route()};
  claims.addresses = {state::arbitrary_address()};
  std::ranges::sort(claims.routes);
  RC_ASSERT(parse_claims(format_claims(claims)).value() == claims);
}

}  // namespace
}  // namespace kernel
