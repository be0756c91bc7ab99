#include "kernel/nft/decode.h"

#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernel/nft/encode.h"
#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

using state::NftClassKind;
using testing::ElementsAre;
using testing::IsEmpty;

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
net::Prefix prefix(std::string_view text) {
  return net::Prefix::parse(text).value();
}

state::NftTable whole_table() {
  return {.window = 0x3f00,
          .classes = {{0x100, {.kind = NftClassKind::source, .joins = {{0x200, 0x300}}}},
                      {0x200, {.kind = NftClassKind::reply}},
                      {0x300, {.kind = NftClassKind::both}}},
          .sources = {{ip("10.0.0.1"), 0x100}, {ip("fd00::1"), 0x100}},
          .vips = {{ip("203.0.113.1"), 0x200}},
          .own = {prefix("10.244.0.0/16"), prefix("10.245.0.0/16"), prefix("192.168.1.5/32"), prefix("224.0.0.0/3"),
                  prefix("fd00::/48")}};
}

// A request says of an object what the kernel says of it later, so requests can stand for its answers.
class NftDecode : public testing::Test {
 protected:
  NftDecode() : NftDecode(whole_table()) {}
  explicit NftDecode(const state::NftTable& table) : told_(encode(state::diff({}, table))) {
    std::erase_if(told_.messages(),
                  [](const Message& message) { return (message.type() & 0xffU) == NFT_MSG_DELTABLE; });
  }

  base::Result<state::ObservedNft> decoded() {
    TableDecoder decoder;
    for (const Message& message : told_.messages()) {
      std::span<const std::byte> bytes = message.bytes();
      TRY(decoder.take(next_message(bytes).value()));
    }
    return std::move(decoder).finish();
  }
  std::vector<std::string> strange() { return decoded().value().strange; }
  // Forgets all messages of a kind.
  void forget(std::uint16_t kind) {
    std::erase_if(told_.messages(), [&](const Message& message) { return (message.type() & 0xffU) == kind; });
  }
  void tell(std::uint16_t kind, std::uint16_t attribute, std::string_view name) {
    Message& message = told_.messages().emplace_back(message_of(kind, 0, NFPROTO_INET));
    message.put_text(kTableAttribute, state::kNftTableName);
    message.put_text(attribute, name);
  }
  Message& last() { return told_.messages().back(); }
  // An element 10.0.0.9 with more to it.
  template <typename Fill>
  void tell_element(std::string_view set, Fill fill) {
    constexpr std::array kKey = {std::byte{10}, std::byte{}, std::byte{}, std::byte{9}};
    tell(NFT_MSG_NEWSETELEM, NFTA_SET_ELEM_LIST_SET, set);
    last().put_nested(NFTA_SET_ELEM_LIST_ELEMENTS, [&] {
      last().put_nested(NFTA_LIST_ELEM, [&] {
        last().put_nested(NFTA_SET_ELEM_KEY, [&] { last().put_bytes(NFTA_DATA_VALUE, kKey); });
        fill(last());
      });
    });
  }

  Requests told_;
};

TEST_F(NftDecode, reads_what_was_written) {
  const auto observed = decoded().value();
  EXPECT_THAT(observed.strange, IsEmpty());
  EXPECT_EQ(observed.table, whole_table());
}

TEST_F(NftDecode, tables_of_others_are_passed_over) {
  Requests other("other");
  other.add_table();
  other.add_chain("pre");
  other.add_set({.name = "x", .family = net::Family::v4, .is_map = false});
  for (Message& message : other.messages()) told_.messages().push_back(message);
  EXPECT_THAT(strange(), IsEmpty());
}

TEST_F(NftDecode, no_message_is_no_table) {
  told_.messages().clear();
  EXPECT_EQ(decoded().value(), state::ObservedNft{});
}

TEST_F(NftDecode, whatever_is_not_of_our_making_is_named) {
  tell(NFT_MSG_NEWTABLE, NFTA_TABLE_NAME, state::kNftTableName);
  put_number(last(), NFTA_TABLE_FLAGS, NFT_TABLE_F_DORMANT);
  tell(NFT_MSG_NEWOBJ, NFTA_OBJ_NAME, "mine");
  tell(NFT_MSG_NEWFLOWTABLE, NFTA_FLOWTABLE_NAME, "mine");
  tell(NFT_MSG_NEWSET, NFTA_SET_NAME, "mine");
  EXPECT_THAT(strange(), ElementsAre("the table has flags", "an object such as a counter", "a flow table", "set mine"));
}

TEST_F(NftDecode, chain_at_another_place_is_named) {
  told_.add_chain("pre", {.type = "filter", .number = NF_INET_PRE_ROUTING, .priority = 0});
  told_.add_chain("out", {.type = "filter", .number = NF_INET_LOCAL_OUT, .priority = -150});
  told_.add_chain("source01", {.type = "filter", .number = NF_INET_FORWARD, .priority = -150});
  tell(NFT_MSG_NEWCHAIN, NFTA_CHAIN_NAME, "reply02");
  put_number(last(), NFTA_CHAIN_FLAGS, NFT_CHAIN_HW_OFFLOAD);
  EXPECT_THAT(strange(), ElementsAre("chain pre is at another place", "chain out is at another place",
                                     "chain source01 is at another place", "chain reply02 is at another place"));
}

TEST_F(NftDecode, set_of_another_type_is_named) {
  forget(NFT_MSG_NEWSET);
  for (Set set : kSets) {
    if (set.name == "src4") set.family = net::Family::v6;
    if (set.name == "vip4") set.is_map = false;
    if (set.name != "own6") told_.add_set(set);
  }
  EXPECT_THAT(strange(),
              ElementsAre("set src4 is of another type", "set vip4 is of another type", "set own6 is missing"));
}

TEST_F(NftDecode, set_with_a_size_or_a_timeout_of_others_is_named) {
  const auto retell = [&](const Set& set) -> Message& {
    std::erase_if(told_.messages(), [&](const Message& message) {
      std::span<const std::byte> bytes = message.bytes();
      std::span<const std::byte> rest = next_message(bytes).value().payload.subspan(sizeof(nfgenmsg));
      auto fields = Fields::read(rest).value();
      return (message.type() & 0xffU) == NFT_MSG_NEWSET && fields.text(NFTA_SET_NAME).value() == set.name;
    });
    told_.add_set(set);
    return last();
  };
  Message& sized = retell(kSets[0]);
  sized.put_nested(NFTA_SET_DESC, [&] { put_number(sized, NFTA_SET_DESC_SIZE, 100); });
  retell(kSets[1]).put_u64(NFTA_SET_TIMEOUT, htobe64(60'000));
  Message& counting = retell(kSets[2]);
  counting.put_nested(NFTA_SET_EXPR, [&] { counting.put_text(NFTA_EXPR_NAME, "counter"); });
  Message& unlimited = retell(kSets[3]);  // As kernels tell of ours.
  unlimited.put_nested(NFTA_SET_DESC, [&] { put_number(unlimited, NFTA_SET_DESC_SIZE, 0); });
  unlimited.put_u64(NFTA_SET_HANDLE, htobe64(7));
  constexpr std::uint16_t kOfANewerKernel = NFTA_SET_EXPRESSIONS + 1;
  unlimited.put_text(kOfANewerKernel, "rhash");
  EXPECT_THAT(strange(),
              ElementsAre("set src4 is of another type", "set src6 is of another type", "set vip4 is of another type"));
}

RC_GTEST_FIXTURE_PROP(NftDecode, no_attribute_of_an_element_hides_the_table_or_goes_unnoticed,
                      (const std::vector<std::uint8_t>& bytes)) {
  const auto type = *rc::gen::inRange<std::uint16_t>(NFTA_SET_ELEM_TIMEOUT, 64);
  const auto value = std::as_bytes(std::span(bytes));
  tell_element("src4", [&](Message& element) {
    element.put_bytes(type, value);
    put_verdict(element, NFTA_SET_ELEM_DATA, NFT_GOTO, "source01");
  });
  const auto observed = decoded();
  RC_ASSERT(observed.has_value());
  const bool is_comment = type == NFTA_SET_ELEM_USERDATA || type == NFTA_SET_ELEM_PAD;
  RC_ASSERT(observed->strange.empty() == (is_comment || Attribute{.type = type, .value = value}.says_nothing()));
}

TEST_F(NftDecode, rule_that_says_something_else_is_named) {
  told_.add_rule("reply", base_rules().front().does);
  told_.add_rule("both03", set_mark(0x3f00, 0x400));
  told_.add_rule("source01", set_mark(0x3f00, 0x100));  // In front of it stands another that is no join.
  EXPECT_THAT(strange(),
              ElementsAre("chain reply is not as we made it", "chain both03", "chain source01 has another rule"));
}

TEST_F(NftDecode, class_with_another_window_is_named) {
  told_.add_chain("source04");
  told_.add_rule("source04", set_mark(0xff00, 0x400));
  told_.add_chain("source05");
  told_.add_rule("source05", {LoadMeta{NFT_META_MARK}, Bits{.mask = ~0U, .flip = 0x500}, StoreMark()});  // Turns bits.
  EXPECT_THAT(strange(), ElementsAre("chain source04", "chain source05"));
}

TEST_F(NftDecode, expression_of_others_is_named) {
  tell(NFT_MSG_NEWRULE, NFTA_RULE_CHAIN, "pre");
  Message& rule = last();
  rule.put_nested(NFTA_RULE_EXPRESSIONS,
                  [&] { rule.put_nested(NFTA_LIST_ELEM, [&] { rule.put_text(NFTA_EXPR_NAME, "counter"); }); });
  EXPECT_THAT(strange(), ElementsAre("rule in chain pre: expression counter"));
}

TEST_F(NftDecode, element_that_leads_elsewhere_is_named) {
  Element element{.key = {std::byte{10}, {}, {}, std::byte{9}}, .chain = "reply02"};
  told_.add_elements("src4", std::span(&element, 1));
  element.chain = "";
  told_.add_elements("vip4", std::span(&element, 1));
  EXPECT_THAT(strange(), ElementsAre("element 10.0.0.9 of vip4", "element 10.0.0.9 leads to reply02"));
}

TEST_F(NftDecode, element_with_an_attribute_of_others_is_named) {
  tell_element("src4", [&](Message& element) {
    element.put_nested(NFTA_SET_ELEM_EXPR, [&] { element.put_text(NFTA_EXPR_NAME, "counter"); });
  });
  tell_element("own4", [&](Message& element) { element.put_text(NFTA_SET_ELEM_OBJREF, "mine"); });
  EXPECT_THAT(strange(),
              ElementsAre("element 10.0.0.9 of src4 has attribute 7", "element 10.0.0.9 of own4 has attribute 9"));
}

TEST_F(NftDecode, element_of_which_a_newer_kernel_says_nothing_is_ours) {
  tell_element("src4", [](Message& element) {
    element.put_u64(NFTA_SET_ELEM_TIMEOUT, 0);
    put_verdict(element, NFTA_SET_ELEM_DATA, NFT_GOTO, "source01");
  });
  EXPECT_THAT(strange(), IsEmpty());
}

TEST_F(NftDecode, element_of_another_shape_is_named) {
  const Element wide{.key = {std::byte{10}}, .length = 16, .chain = "source01"};
  told_.add_elements("src4", std::span(&wide, 1));
  tell(NFT_MSG_NEWSETELEM, NFTA_SET_ELEM_LIST_SET, "vip4");
  last().put_nested(NFTA_SET_ELEM_LIST_ELEMENTS, [&] {
    last().put_nested(NFTA_LIST_ELEM, [&] { put_verdict(last(), NFTA_SET_ELEM_KEY, NFT_GOTO, "reply02"); });
  });
  EXPECT_THAT(strange(), ElementsAre("element a00:: of src4", "element of 0 bytes of vip4"));
}

TEST_F(NftDecode, interval_that_is_no_prefix_is_named) {
  const std::array ends = {Element{.key = {std::byte{10}, {}, {}, std::byte{1}}},
                           Element{.key = {std::byte{10}, {}, {}, std::byte{6}}, .ends_interval = true}};
  told_.add_elements("own4", ends);
  EXPECT_THAT(strange(), ElementsAre("set own4: the interval from 10.0.0.1 is no prefix"));
}

TEST_F(NftDecode, missing_part_is_named) {
  for (const std::uint16_t kind : {NFT_MSG_NEWSET, NFT_MSG_NEWSETELEM, NFT_MSG_NEWCHAIN, NFT_MSG_NEWRULE}) forget(kind);
  EXPECT_EQ(strange().size(), 9);  // Six sets and three chains.
}

TEST_F(NftDecode, content_without_its_table_is_an_error_and_never_an_empty_table) {
  forget(NFT_MSG_NEWTABLE);
  const auto observed = decoded();
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error().message(), testing::HasSubstr("without their table"));
}

}  // namespace
}  // namespace kernel::nft
