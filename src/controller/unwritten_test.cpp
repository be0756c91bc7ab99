#include "controller/unwritten.h"

#include <string>

#include <gtest/gtest.h>

namespace controller {
namespace {

using intent::Write;
using Step = Write::Step;

Write write(Step step, const std::string& name, const std::string& source, std::uint32_t table = 100) {
  Write out{.step = step};
  out.object.meta.name = name;
  out.object.spec.service_ip = source;
  out.object.spec.table = table;
  return out;
}
const Write kCreate = write(Step::create, "new", "10.0.0.1", 101);

base::Status refused(base::Fault fault = base::Fault::denied) {
  return base::fail(fault, "exceeded quota");
}

Write withdrawal(const std::string& source) {
  Write out = write(Step::withdraw, "old", source);
  out.is_replaced = true;
  return out;
}

TEST(Unwritten, what_steers_a_source_stays_until_what_replaces_it_is_there) {
  Unwritten unwritten;
  unwritten.begin_pass();
  EXPECT_FALSE(unwritten.holds_back(withdrawal("10.0.0.1")));
  unwritten.note(kCreate, refused());
  EXPECT_TRUE(unwritten.holds_back(withdrawal("10.0.0.1")));
  EXPECT_FALSE(unwritten.holds_back(withdrawal("10.0.0.2"))) << "another source";
  Write surplus = withdrawal("10.0.0.1");
  surplus.is_replaced = false;
  EXPECT_FALSE(unwritten.holds_back(surplus));
  unwritten.begin_pass();
  unwritten.note(kCreate, {});
  EXPECT_FALSE(unwritten.holds_back(withdrawal("10.0.0.1")));
}

TEST(Unwritten, D11_an_edited_object_may_be_what_steers_any_source) {
  Unwritten unwritten;
  unwritten.begin_pass();
  Write edited = write(Step::withdraw, "edited", "10.9.9.9");
  edited.is_drift = true;
  EXPECT_FALSE(unwritten.holds_back(edited));
  unwritten.note(kCreate, refused());
  EXPECT_TRUE(unwritten.holds_back(edited));
}

TEST(Unwritten, a_failure_is_told_with_what_was_asked_until_it_is_done_or_no_longer_asked) {
  Unwritten unwritten;
  unwritten.begin_pass();
  unwritten.note(kCreate, refused());
  ASSERT_TRUE(unwritten.failed().contains("new"));
  EXPECT_EQ(unwritten.failed().at("new").asked, kCreate.object.spec);
  EXPECT_EQ(unwritten.failed().at("new").error, "exceeded quota");
  EXPECT_FALSE(unwritten.is_outdated());

  unwritten.begin_pass();
  unwritten.note(kCreate, {});
  EXPECT_TRUE(unwritten.failed().empty());
  EXPECT_TRUE(unwritten.is_outdated()) << "a status was decided while it had failed";

  unwritten.begin_pass();
  unwritten.note(kCreate, refused());
  unwritten.begin_pass();
  EXPECT_TRUE(unwritten.failed().empty()) << "not asked for any more";
  EXPECT_FALSE(unwritten.is_outdated());
}

TEST(Unwritten, what_a_pass_had_no_time_for_is_as_it_was) {
  Unwritten unwritten;
  unwritten.begin_pass();
  unwritten.note(kCreate, refused());
  unwritten.note(write(Step::create, "other", "10.0.0.2"), refused());
  unwritten.begin_pass();
  unwritten.note(kCreate, {});
  unwritten.end_pass_early();
  EXPECT_FALSE(unwritten.failed().contains("new"));
  EXPECT_TRUE(unwritten.failed().contains("other"));
}

TEST(Unwritten, that_somebody_else_was_faster_stands_in_nobodys_way) {
  for (const auto fault : {base::Fault::conflict, base::Fault::cancelled}) {
    Unwritten unwritten;
    unwritten.begin_pass();
    unwritten.note(kCreate, refused(fault));
    EXPECT_TRUE(unwritten.failed().empty());
    EXPECT_TRUE(unwritten.holds_back(withdrawal("10.0.0.1"))) << "and yet it is not there";
  }
}

}  // namespace
}  // namespace controller
