#include "cli/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    for (const auto* name : {"lo", "cni0", "eth0", "eth1"}) {
      explanation_.observed.observed_links.push_back(
          {.link = {.name = net::InterfaceName::parse(name).value(), .up = true}});
    }
    for (const auto* rule : {"0: from all lookup local proto kernel", "1000: from 10.96.23.17 lookup 100 proto 183",
                             "1001: from 10.1.2.3 lookup 7", "32766: from all lookup main proto kernel"}) {
      explanation_.observed.rules.push_back(state::parse_rule(net::Family::v4, rule).value());
    }
    for (const auto* route : {"default via 10.0.0.1 dev eth0", "default via 198.51.100.1 dev eth1 table 100"}) {
      explanation_.observed.routes.push_back(state::parse_route(net::Family::v4, route).value());
    }
    explanation_.packet = parse_packet({.from = "10.244.1.7", .to = "198.18.7.9", .iif = "cni0"}).value();
    explanation_.walk = path::walk(explanation_.observed, explanation_.packet);
    explanation_.kernel = explanation_.walk.verdict;
  }

  std::string text() { return show(explanation_).page.render({}); }

  Explanation explanation_;
};

TEST_F(ExplainTest, shows_the_way_and_why_our_rule_does_not_catch_it) {
  EXPECT_EQ(text(),
            "10.244.1.7 -> 198.18.7.9 tcp, comes in by cni0\n"
            "  rule 0      from all lookup local proto kernel     no route\n"
            "  rule 1000   from 10.96.23.17 lookup 100 proto 183  no match: source is 10.244.1.7\n"
            "  rule 32766  from all lookup main proto kernel      default via 10.0.0.1 dev eth0\n"
            "                                                     1 other rule does not match\n"
            "Verdict  leaves by eth0 via 10.0.0.1 (table main)\n"
            "Kernel   agrees\n");
  EXPECT_EQ(show(explanation_).code, ExitCode::fine);
}

TEST_F(ExplainTest, a_difference_comes_first_and_asks_for_attention) {
  explanation_.kernel = path::Verdict{.kind = path::Verdict::Kind::dropped};
  EXPECT_THAT(text(), StartsWith("The walk and the kernel differ: one of us is wrong.\n"));
  EXPECT_THAT(text(), HasSubstr("Kernel   is dropped without a word (blackhole)\n"));
  EXPECT_EQ(show(explanation_).code, ExitCode::attention);
}

TEST_F(ExplainTest, a_kernel_that_does_not_answer_is_no_agreement) {
  explanation_.kernel = base::fail(base::Fault::kernel, "EOPNOTSUPP");
  EXPECT_THAT(text(), HasSubstr("Kernel   did not answer: EOPNOTSUPP\n"));
  EXPECT_EQ(show(explanation_).code, ExitCode::could_not_ask);
}

TEST_F(ExplainTest, an_empty_table_of_ours_is_a_finding) {
  explanation_.observed.rules[1].selector.from.reset();
  explanation_.observed.routes.pop_back();
  explanation_.walk = path::walk(explanation_.observed, explanation_.packet);
  EXPECT_THAT(text(), HasSubstr("table 100 is empty  IPR0311"));
}

TEST_F(ExplainTest, what_could_not_be_asked_beats_packets_that_went_astray) {
  explanation_.kernel = base::fail(base::Fault::kernel, "EOPNOTSUPP");
  explanation_.live.emplace().seen.packets = {{.fate = kernel::nft::TracedPacket::Fate::dropped}};
  EXPECT_THAT(text(), HasSubstr("1 of 1 went otherwise than the verdict says"));
  EXPECT_EQ(show(explanation_).code, ExitCode::could_not_ask);
}

TEST_F(ExplainTest, vrfs_are_told_with_their_tables_to_who_asks_from_elsewhere) {
  state::ObservedLink& blue = explanation_.observed.observed_links.emplace_back();
  blue.link = {.name = net::InterfaceName::parse("blue").value(), .kind = state::LinkKind::vrf, .table = 10};
  EXPECT_THAT(show(explanation_).json, HasSubstr(R"("vrfs":[{"name":"blue","table":10}])"));
}

TEST(PacketWords, what_cannot_be_read_is_named_by_its_flag) {
  const auto refused = [](const PacketWords& words) {
    const auto packet = parse_packet(words);
    return packet ? "" : packet.error().message();
  };
  EXPECT_THAT(refused({}), StartsWith("--to: "));
  EXPECT_THAT(refused({.to = "198.18.7"}), StartsWith("--to: "));
  EXPECT_THAT(refused({.from = "fd00::1", .to = "198.18.7.9"}), StartsWith("--from: "));
  EXPECT_THAT(refused({.to = "198.18.7.9", .mark = "0xzz"}), StartsWith("--mark: "));
  EXPECT_THAT(refused({.to = "198.18.7.9", .proto = "tpc"}), StartsWith("--proto: "));
}

}  // namespace
}  // namespace cli
