// The contract with the kernel: each fact about rules and sockets that the engine relies on, by itself. When one of
// these fails on another kernel, the code that names it has to change.
#include <cerrno>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <rapidcheck.h>

#include "kernel/netlink/events.h"
#include "kernel/netlink/socket.h"
#include "kernel/observe.h"
#include "kernel/rtnl/rule.h"
#include "plan/kernel_model.h"
#include "state/rule_match.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

using state::Rule;

class Facts : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped()) return;
    socket_.emplace(Socket::open(Bus::route).value());
  }

  static Rule rule(std::string_view text) { return state::parse_rule(net::Family::v4, text).value(); }

  // The errno of the answer, 0 for success.
  int send(Message message) {
    const auto status = socket_->transact(std::move(message));
    return status ? 0 : status.error().errno_value();
  }
  int add(std::string_view text, bool exclusive = true) {
    return send(rtnl::encode_add(rule(text), exclusive).value());
  }
  int remove(std::string_view text) { return send(rtnl::encode_remove(rule(text)).value()); }

  // A message with nothing but what is put into it: what our encoder refuses to make.
  static Message bare(std::uint16_t type, std::uint8_t family = AF_INET, std::uint8_t action = FR_ACT_UNSPEC,
                      std::uint16_t flags = 0) {
    fib_rule_hdr header{};
    header.family = family;
    header.action = action;
    return Message(type, flags, header);
  }

  static std::string rules() { return run("ip rule"); }

  Socket& socket() { return *socket_; }

 private:
  std::optional<Socket> socket_;
};

constexpr auto* kBaseline =
    "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n";

TEST_F(Facts, without_excl_the_same_rule_goes_in_again) {
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto 183", false), 0);
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto 183", false), 0);
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "2\n");
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto 183", true), EEXIST);
}

TEST_F(Facts, there_is_no_replace_it_adds_one_more) {
  add("500: from 10.0.0.7 lookup 100 proto 183");
  Message message = bare(RTM_NEWRULE, AF_INET, FR_ACT_TO_TBL, NLM_F_CREATE | NLM_F_REPLACE);
  message.put_u32(FRA_PRIORITY, 500);
  message.put_u32(FRA_TABLE, 100);
  message.put_u8(FRA_PROTOCOL, 183);
  EXPECT_EQ(send(std::move(message)), 0);
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "2\n");
}

TEST_F(Facts, excl_compares_the_protocol_too) {
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto static"), 0);
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto 183"), 0);
}

TEST_F(Facts, excl_takes_a_missing_source_for_any) {
  EXPECT_EQ(add("500: from 10.0.0.7 lookup 100 proto 183"), 0);
  EXPECT_EQ(add("500: from all lookup 100 proto 183"), EEXIST);
  EXPECT_EQ(add("500: from all lookup 100 proto 183", false), 0);
}

TEST_F(Facts, without_a_priority_the_kernel_chooses_one_before_the_second_rule) {
  run("ip rule add from 10.0.0.9 lookup 9 priority 1");
  Message message = bare(RTM_NEWRULE, AF_INET, FR_ACT_TO_TBL, NLM_F_CREATE);
  message.put_u32(FRA_TABLE, 100);
  EXPECT_EQ(send(std::move(message)), 0);
  EXPECT_EQ(rules().substr(0, rules().find("1:\t")), "0:\tfrom all lookup local\n0:\tfrom all lookup 100\n");
}

TEST_F(Facts, a_delete_takes_the_first_rule_that_has_what_it_carries) {
  add("500: from 10.0.0.7 fwmark 0x1 lookup 100 proto 183");
  add("500: from 10.0.0.7 lookup 100 proto 183");
  EXPECT_EQ(remove("500: from 10.0.0.7 lookup 100 proto 183"), 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

TEST_F(Facts, a_delete_honours_the_protocol) {
  run("ip rule add from 10.0.0.7 lookup 100 priority 500 protocol static");
  EXPECT_EQ(remove("500: from 10.0.0.7 lookup 100 proto 183"), ENOENT);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom 10.0.0.7 lookup 100 proto static\n");
}

TEST_F(Facts, a_delete_without_attributes_removes_the_local_rule_and_succeeds) {
  EXPECT_EQ(send(bare(RTM_DELRULE)), 0);
  EXPECT_EQ(send(bare(RTM_DELRULE, AF_INET6)), 0);
  EXPECT_EQ(run("ip rule show table local") + run("ip -6 rule show table local"), "");
}

TEST_F(Facts, host_bits_are_kept) {
  run("ip rule add from 10.0.0.5/24 lookup 100 priority 500 protocol 183");
  run("ip rule add from 10.0.0.0/24 lookup 100 priority 500 protocol 183");
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "2\n");
  const auto seen = observe(socket(), {}).value();
  ASSERT_EQ(state::state_of(seen).opaque_rules.size(), 1);
  EXPECT_EQ(send(rtnl::encode_remove(state::state_of(seen).opaque_rules[0]).value()), 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom 10.0.0.0/24 lookup 100 proto 183\n");
}

TEST_F(Facts, a_source_of_length_0_is_everybody) {
  run("ip rule add from 10.0.0.0/0 lookup 100 priority 500 protocol 183");
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom all lookup 100 proto 183\n");
}

TEST_F(Facts, a_mapped_source_makes_an_ipv6_rule) {
  run("ip -6 rule add from ::ffff:10.0.0.7 lookup 100 priority 500 protocol 183");
  EXPECT_EQ(run("ip rule show priority 500"), "");
  const auto seen = observe(socket(), {}).value();
  ASSERT_EQ(state::state_of(seen).opaque_rules.size(), 1) << "it is no source of ours, in either family";
  EXPECT_EQ(state::state_of(seen).opaque_rules[0].family, net::Family::v6);
}

TEST_F(Facts, table_0_is_chosen_by_the_kernel_in_ipv4_and_refused_in_ipv6) {
  const auto table_0 = [](std::uint8_t family) {
    Message message = bare(RTM_NEWRULE, family, FR_ACT_TO_TBL, NLM_F_CREATE);
    message.put_u32(FRA_PRIORITY, 500);
    message.put_u32(FRA_TABLE, 0);
    return message;
  };
  EXPECT_EQ(send(table_0(AF_INET)), 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom all lookup 1\n");
  EXPECT_EQ(send(table_0(AF_INET6)), EINVAL);
}

TEST_F(Facts, unknown_attributes_are_ignored) {
  Message message = rtnl::encode_add(rule("500: from 10.0.0.7 lookup 100 proto 183"), true).value();
  message.put_u32(200, 7);
  EXPECT_EQ(send(std::move(message)), 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

TEST_F(Facts, a_missing_interface_detaches_without_a_rule_event) {
  run("ip link add eth9 type veth peer name peer9");
  EXPECT_EQ(add("500: from all iif eth9 lookup 100 proto 183"), 0);
  auto events = EventSocket::open(Bus::route, std::array<int, 1>{RTNLGRP_IPV4_RULE}).value();
  run("ip link del eth9");
  EXPECT_EQ(events.drain().value().events, 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom all iif eth9 [detached] lookup 100 proto 183\n");
  // Detached is a state of the rule, not another rule.
  const auto seen = observe(socket(), {}).value();
  EXPECT_NE(std::ranges::find(state::state_of(seen).rules, rule("500: from all iif eth9 lookup 100 proto 183")),
            state::state_of(seen).rules.end());
}

TEST_F(Facts, a_renamed_interface_detaches_without_a_rule_event) {
  run("ip link add eth9 type veth peer name peer9");
  EXPECT_EQ(add("500: from all iif eth9 lookup 100 proto 183"), 0);
  auto events = EventSocket::open(Bus::route, std::array<int, 1>{RTNLGRP_IPV4_RULE}).value();
  run("ip link set eth9 name eth8");
  EXPECT_EQ(events.drain().value().events, 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom all iif eth9 [detached] lookup 100 proto 183\n");
}

TEST_F(Facts, rules_of_one_priority_stand_in_order_of_age) {
  add("500: from 10.0.0.9 lookup 100 proto 183");
  add("500: from 10.0.0.1 lookup 100 proto 183");
  add("400: from 10.0.0.5 lookup 100 proto 183");
  EXPECT_EQ(run("ip rule show table 100 | cut -d' ' -f2"), "10.0.0.5\n10.0.0.9\n10.0.0.1\n");
}

TEST_F(Facts, a_batch_with_a_bad_request_in_the_middle_is_done_but_for_that) {
  std::vector<Message> batch;
  batch.push_back(rtnl::encode_add(rule("500: from 10.0.0.1 lookup 100 proto 183"), true).value());
  batch.push_back(rtnl::encode_add(rule("500: from 10.0.0.1 lookup 100 proto 183"), true).value());
  batch.push_back(rtnl::encode_add(rule("500: from 10.0.0.2 lookup 100 proto 183"), true).value());
  const auto statuses = socket().transact_all(batch);
  EXPECT_TRUE(statuses[0] && !statuses[1] && statuses[2]);
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "2\n");
}

TEST_F(Facts, flush_takes_main_and_default_and_flush_proto_only_that) {
  add("500: from 10.0.0.7 lookup 100 proto 183");
  run("ip rule flush protocol 183");
  EXPECT_EQ(rules(), kBaseline);
  run("ip rule flush");
  EXPECT_EQ(rules(), "0:\tfrom all lookup local\n");
}

TEST_F(Facts, rule_events_carry_the_port_of_who_caused_them) {
  auto events = EventSocket::open(Bus::route, std::array<int, 1>{RTNLGRP_IPV4_RULE}).value();
  std::vector<std::uint32_t> ports;
  const auto note = [&](const Received& event) { ports.push_back(event.port); };
  add("500: from 10.0.0.7 lookup 100 proto 183");
  ASSERT_TRUE(events.drain(note));
  EXPECT_EQ(ports, std::vector<std::uint32_t>{socket().port()});
  ports.clear();
  run("ip rule add from 10.0.0.8 lookup 100 priority 500");
  ASSERT_TRUE(events.drain(note));
  ASSERT_EQ(ports.size(), 1);
  EXPECT_NE(ports[0], socket().port());
}

TEST_F(Facts, a_small_buffer_loses_events_and_says_so_once) {
  auto events = EventSocket::open(Bus::route, std::array<int, 1>{RTNLGRP_IPV4_RULE}).value();
  std::vector<Message> messages;
  for (int i = 0; i < 3000; ++i) {
    messages.push_back(rtnl::encode_add(rule("500: from 10.0.0.7 lookup 100 proto 183"), false).value());
  }
  socket().transact_all(messages);
  const auto drained = events.drain().value();
  EXPECT_TRUE(drained.lost);
  EXPECT_LT(drained.events, 3000);
  EXPECT_FALSE(events.drain().value().lost);
}

TEST_F(Facts, with_no_enobufs_the_same_events_are_lost_in_silence) {
  auto endpoint = Endpoint::open(Bus::route).value();
  ASSERT_TRUE(endpoint.set_option(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, RTNLGRP_IPV4_RULE));
  ASSERT_TRUE(endpoint.set_option(SOL_NETLINK, NETLINK_NO_ENOBUFS, 1));
  std::vector<Message> messages;
  for (int i = 0; i < 3000; ++i) {
    messages.push_back(rtnl::encode_add(rule("500: from 10.0.0.7 lookup 100 proto 183"), false).value());
  }
  socket().transact_all(messages);
  int events = 0;
  while (endpoint.receive({}).value()) ++events;  // No error, to the end.
  EXPECT_LT(events, 3000);
}

TEST_F(Facts, a_short_read_after_a_long_one_cuts_the_dump) {
  std::vector<Message> messages;
  for (int i = 0; i < 1000; ++i) {
    messages.push_back(rtnl::encode_add(rule("500: from 10.0.0.7 lookup 100 proto 183"), false).value());
  }
  socket().transact_all(messages);
  auto endpoint = Endpoint::open(Bus::route).value();
  Message request = rtnl::encode_dump(net::Family::v4);
  std::vector<std::byte> bytes(request.bytes().begin(), request.bytes().end());
  reinterpret_cast<nlmsghdr*>(bytes.data())->nlmsg_flags |= NLM_F_DUMP;
  ASSERT_TRUE(endpoint.send(bytes));
  ASSERT_TRUE(endpoint.receive({}).value());  // With our buffer: the kernel learns that we take long ones.
  std::array<std::byte, 4096> small;
  iovec part{.iov_base = small.data(), .iov_len = small.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  bool cut = false;
  while (::recvmsg(endpoint.fd(), &message, MSG_DONTWAIT) > 0) cut = cut || (message.msg_flags & MSG_TRUNC) != 0;
  EXPECT_TRUE(cut);
}

TEST_F(Facts, rule_dumps_refuse_every_filter) {
  Message filtered = bare(RTM_GETRULE);
  filtered.put_u32(FRA_TABLE, 100);
  EXPECT_FALSE(socket().dump(std::move(filtered), [](const Received&) { return base::Status{}; }));
}

// The planner's idea of what a request takes or is blocked by, against the real thing: random adds and deletes, after
// each of which the model and the kernel hold the same rules in the same order.
TEST_F(Facts, the_model_of_the_rule_list_is_the_kernels) {
  run("ip rule del priority 0");
  const bool same = rc::check([&] {
    plan::KernelModel model;
    run("ip rule flush");
    const auto any = [] {
      using rc::gen::element;
      Rule out{.priority = *element(10U, 20U), .protocol = *element<std::uint8_t>(183, 184)};
      if (*element(true, false)) out.selector.from = net::Prefix::parse(*element("10.0.0.1/32", "10.0.0.0/24")).value();
      if (*element(false, true)) out.selector.mark = state::Mark{.value = *element(0U, 1U), .mask = *element(1U, 3U)};
      if (*element(false, false, true)) out.selector.to = net::Prefix::parse("192.0.2.0/24").value();
      if (*element(false, false, true)) out.selector.iif = net::InterfaceName::parse("lo").value();
      if (*element(false, false, true)) out.selector.tos = 0x10;
      if (*element(false, false, true)) out.selector.ip_protocol = 6;
      if (*element(false, false, true))
        out.selector.dport = state::PortRange{.first = 80, .last = *element<std::uint16_t>(80, 90)};
      if (*element(false, false, true)) out.selector.uids = state::UidRange{.first = 0, .last = 5};
      out.selector.invert = *element(false, false, true);
      out.action = *element(state::RuleAction::lookup, state::RuleAction::lookup, state::RuleAction::blackhole);
      if (out.action == state::RuleAction::lookup) out.table = *element(1U, 300U);
      if (out.table != 0 && *element(false, true)) out.suppress_prefixlength = 0;
      if (out.table != 0 && *element(false, false, true)) out.suppress_ifgroup = 3;
      return out;
    };
    std::vector<Rule> pool;
    for (int i = 0; i < 6; ++i) pool.push_back(any());
    const int steps = *rc::gen::inRange(1, 25);
    for (int i = 0; i < steps; ++i) {
      const Rule one = *rc::gen::elementOf(pool);
      const int kind = *rc::gen::inRange(0, 3);
      if (kind == 2) {
        RC_ASSERT((send(rtnl::encode_remove(one).value()) == 0) == model.remove(one));
      } else {
        RC_ASSERT((send(rtnl::encode_add(one, kind == 1).value()) == 0) == model.add(one, kind == 1));
      }
      const auto view = std::get<state::Verified>(observe(socket(), {}).value()).state;
      std::string held;
      std::string expected;
      for (const auto& opaque : view.opaque_rules) held += text(opaque) + "\n";
      for (const Rule& rule : view.rules) {
        if (rule.family == net::Family::v4) held += text(rule) + "\n";
      }
      for (const Rule& rule : model.rules) expected += text(rule) + "\n";
      RC_ASSERT(held == expected);
    }
  });
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace kernel
