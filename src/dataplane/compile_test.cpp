#include "dataplane/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dataplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
net::InterfaceName device(std::string_view text) {
  return net::InterfaceName::parse(text).value();
}

std::vector<std::string> texts(const std::vector<state::Rule>& rules) {
  std::vector<std::string> out;
  for (const auto& rule : rules) out.push_back(state::text(rule));
  return out;
}

std::vector<Source> many(std::size_t count, std::uint32_t table = 100) {
  std::vector<Source> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({ip(fmt::format("10.244.{}.{}", i / 256, i % 256)), {.priority = 500, .table = table}});
  }
  return out;
}

const Finding* find(const Compiled& compiled, std::string_view code) {
  const auto found = std::ranges::find(compiled.findings, code, &Finding::code);
  return found == compiled.findings.end() ? nullptr : &*found;
}

TEST(Compile, few_sources_are_plain_from_rules_and_no_table) {
  const auto compiled = compile({.sources = {{ip("10.244.0.7"), {.priority = 500, .table = 100}},
                                             {ip("fd00::7"), {.priority = 500, .table = 100}}}});
  EXPECT_THAT(texts(compiled.rules),
              ElementsAre("500: from 10.244.0.7 lookup 100 proto 183", "500: from fd00::7 lookup 100 proto 183"));
  EXPECT_EQ(compiled.table, std::nullopt);
}

TEST(Compile, many_sources_of_one_path_are_one_rule_and_one_chain) {
  const auto compiled = compile({.sources = many(257)});
  EXPECT_THAT(texts(compiled.rules), ElementsAre("500: from all fwmark 0x100/0x3f00 lookup 100 proto 183"));
  EXPECT_EQ(compiled.table->sources.size(), 257);
  EXPECT_EQ(compiled.table->classes.size(), 1);
  EXPECT_EQ(compiled.by_marks, 257);
  EXPECT_EQ(compiled.by_rules, 0);
}

TEST(Compile, reply_asks_main_first_unless_told_otherwise) {
  const auto compiled = compile({.replies = {{ip("203.0.113.1"), {.priority = 500, .table = 100}},
                                             {ip("203.0.113.2"), {.priority = 500, .table = 100}, false}}});
  EXPECT_THAT(texts(compiled.rules),
              ElementsAre("499: from all fwmark 0x200/0x3f00 lookup main suppress_prefixlength 0 proto 183",
                          "500: from all fwmark 0x100/0x3f00 lookup 100 proto 183",
                          "500: from all fwmark 0x200/0x3f00 lookup 100 proto 183"));
}

TEST(Compile, reply_without_a_place_for_main_in_front_is_refused) {
  const auto compiled = compile({.replies = {{ip("203.0.113.1"), {.priority = 1, .table = 100}}}});
  EXPECT_THAT(compiled.rules, IsEmpty());
  ASSERT_NE(find(compiled, kPriorityTooLow), nullptr);
  EXPECT_FALSE(compile({.replies = {{ip("203.0.113.1"), {.priority = 1, .table = 100}, false}}}).rules.empty());
}

TEST(Compile, older_epoch_counts_while_a_change_is_in_flight) {
  const auto compiled = compile({.sources = {{ip("10.244.0.7"), {.priority = 500, .table = 200, .epoch = 9}},
                                             {ip("10.244.0.7"), {.priority = 500, .table = 300, .epoch = 4}}}});
  EXPECT_THAT(texts(compiled.rules), ElementsAre("500: from 10.244.0.7 lookup 300 proto 183"));
}

TEST(Compile, local_address_stays_on_rules) {
  Steering steering{.sources = many(2), .mode = Mode::marks};
  steering.facts.local = {ip("10.244.0.1")};
  const auto compiled = compile(steering);
  EXPECT_THAT(texts(compiled.rules), ElementsAre("500: from all fwmark 0x100/0x3f00 lookup 100 proto 183",
                                                 "500: from 10.244.0.1 lookup 100 proto 183"));
  EXPECT_FALSE(compiled.table->sources.contains(ip("10.244.0.1")));
}

TEST(Compile, F12_protected_source_is_refused_and_its_siblings_go_on) {
  Steering steering{.sources = many(2)};
  steering.sources.push_back({ip("0.0.0.0"), {.priority = 500, .table = 100}});
  steering.facts.protected_sources = {ip("10.244.0.1")};
  const auto compiled = compile(steering);
  EXPECT_THAT(texts(compiled.rules), ElementsAre("500: from 10.244.0.0 lookup 100 proto 183"));
  EXPECT_THAT(find(compiled, kProtectedSource)->subjects, ElementsAre(ip("0.0.0.0"), ip("10.244.0.1")));
}

TEST(Compile, automatic_keeps_sources_of_a_strict_uplink_on_rules) {
  Steering steering{.sources = many(300)};
  steering.sources.push_back({ip("10.245.0.1"), {.priority = 500, .table = 200}});
  steering.facts.uplinks = {{.table = 100, .device = device("eth1"), .rp_filter = 1},
                            {.table = 200, .device = device("eth2"), .rp_filter = 2}};
  const auto compiled = compile(steering);
  EXPECT_EQ(compiled.by_rules, 300);
  EXPECT_EQ(compiled.by_marks, 1);
  EXPECT_EQ(find(compiled, kStrictReversePath), nullptr);
}

TEST(Compile, marks_asked_for_and_replies_tell_of_a_strict_uplink_and_its_cure) {
  Steering steering{.sources = many(1), .replies = {{ip("203.0.113.1"), {.priority = 500, .table = 100}}}};
  steering.mode = Mode::marks;
  steering.facts.uplinks = {{.table = 100, .device = device("eth1.7"), .rp_filter = 1}};
  const auto compiled = compile(steering);
  EXPECT_EQ(compiled.by_marks, 1);
  const Finding* const strict = find(compiled, kStrictReversePath);
  ASSERT_NE(strict, nullptr);
  EXPECT_THAT(strict->subjects, ElementsAre(ip("10.244.0.0"), ip("203.0.113.1")));
  EXPECT_THAT(strict->message, HasSubstr("device eth1.7"));
  EXPECT_THAT(strict->message, HasSubstr("sysctl -w net.ipv4.conf.eth1/7.rp_filter=2"));
}

TEST(Compile, there_is_no_strict_reverse_path_for_ipv6) {
  Steering steering{.sources = {{ip("fd00::7"), {.priority = 500, .table = 100}}}, .mode = Mode::marks};
  steering.facts.uplinks = {{.table = 100, .device = device("eth1"), .rp_filter = 1}};
  EXPECT_THAT(compile(steering).findings, IsEmpty());
}

TEST(Compile, sources_without_a_free_mark_stay_on_rules) {
  Steering steering{.mode = Mode::marks};
  steering.numbers.window = 0x3000;
  for (std::uint32_t i = 0; i < 4; ++i) {
    steering.sources.push_back({ip(fmt::format("10.244.0.{}", i)), {.priority = 500, .table = 100 + i}});
  }
  const auto compiled = compile(steering);
  EXPECT_EQ(compiled.by_marks, 3);
  EXPECT_THAT(find(compiled, kNoFreeMark)->subjects, ElementsAre(ip("10.244.0.3")));
  EXPECT_EQ(texts(compiled.rules).back(), "500: from 10.244.0.3 lookup 103 proto 183");
}

TEST(Compile, reply_gets_the_mark_of_a_source_class_as_soon_as_it_is_free) {
  Steering steering{.mode = Mode::marks};
  steering.numbers.window = 0x3000;
  for (std::uint32_t i = 0; i < 3; ++i) {
    steering.sources.push_back({ip(fmt::format("10.244.0.{}", i)), {.priority = 500, .table = 100 + i}});
  }
  const auto pass = [&] {
    auto compiled = compile(steering);
    steering.marks = read_back(compiled.rules, compiled.table, 0x3000, 183);
    return compiled;
  };
  EXPECT_EQ(pass().by_marks, 3);
  steering.replies = {{ip("203.0.113.1"), {.priority = 600, .table = 200}}};
  EXPECT_TRUE(pass().table->vips.empty());  // One source class gives its mark up,
  EXPECT_EQ(pass().table->vips.size(), 1);  // and the reply has it.
  const auto settled = pass();              // One class finds room for itself and for packets of both.
  EXPECT_EQ(settled.by_marks, 1);
  EXPECT_EQ(settled.by_rules, 2);
  EXPECT_EQ(pass().table, settled.table);
}

TEST(Compile, cluster_prefixes_are_there_for_replies_alone_and_do_not_overlap) {
  Steering steering{.sources = many(1), .mode = Mode::marks};
  for (const auto* prefix : {"10.244.0.0/16", "10.244.7.0/24", "fd00::/48"}) {
    steering.facts.cluster_prefixes.insert(net::Prefix::parse(prefix).value());
  }
  EXPECT_THAT(compile(steering).table->own, IsEmpty());
  steering.replies = {{ip("203.0.113.1"), {.priority = 500, .table = 100}}};
  EXPECT_THAT(compile(steering).table->own,
              ElementsAre(net::Prefix::parse("10.244.0.0/16").value(), net::Prefix::parse("fd00::/48").value()));
}

TEST(Compile, rules_asked_for_with_many_sources_warn) {
  EXPECT_EQ(find(compile({.sources = many(1000), .mode = Mode::rules}), kManyRules), nullptr);
  EXPECT_NE(find(compile({.sources = many(1001), .mode = Mode::rules}), kManyRules), nullptr);
}

TEST(Compile, F13_S23_beyond_the_most_rules_the_youngest_object_is_refused_whole) {
  auto sources = many(20001);
  for (Source& source : sources) source.target.epoch = 5;
  for (std::size_t i = 100; i < 200; ++i) sources[i].target.epoch = 9;
  EXPECT_EQ(compile({.sources = {sources.begin(), sources.end() - 1}, .mode = Mode::rules}).rules.size(), 20000);
  const auto compiled = compile({.sources = sources, .mode = Mode::rules});
  EXPECT_EQ(compiled.rules.size(), 19901);
  const Finding* const refused = find(compiled, kTooManyRules);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->subjects.size(), 100) << "not the one source too many: the object that has it";
  EXPECT_EQ(compile({.sources = sources}).by_marks, 20001) << "marks have no such limit";
}

}  // namespace
}  // namespace dataplane
