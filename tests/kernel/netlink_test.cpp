#include <array>
#include <cerrno>
#include <chrono>
#include <linux/capability.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kernel/netlink/socket.h"
#include "tests/kernel/refuse_calls.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

using namespace std::chrono_literals;
using Netlink = Sandbox;

fib_rule_hdr rules(std::uint8_t family) {
  fib_rule_hdr header{};
  header.family = family;
  header.action = FR_ACT_TO_TBL;
  return header;
}

Message rule(std::uint16_t type, std::uint16_t flags, std::uint32_t priority, std::uint32_t table) {
  Message message(type, flags, rules(AF_INET));
  message.put_u32(FRA_PRIORITY, priority);
  message.put_u32(FRA_TABLE, table);
  return message;
}

// Strict checking: the header of a dump request holds the family and nothing else.
Message rule_dump(std::uint8_t family) {
  fib_rule_hdr header{};
  header.family = family;
  return Message(RTM_GETRULE, 0, header);
}

TEST_F(Netlink, refusal_has_errno_and_the_words_of_the_kernel) {
  auto socket = Socket::open(Bus::route).value();
  Message message(RTM_NEWRULE, NLM_F_CREATE, rules(AF_INET6));
  message.put_u32(FRA_TABLE, 0);
  const auto status = socket.transact(std::move(message));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "kernel: EINVAL (Invalid table)");
}

TEST_F(Netlink, each_of_many_requests_gets_its_own_answer) {
  auto socket = Socket::open(Bus::route).value();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, 1000 + i / 2, 100));  // Every second is a copy.
  }
  const auto statuses = socket.transact_all(messages);
  ASSERT_EQ(statuses.size(), messages.size());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (i % 2 == 0) {
      EXPECT_TRUE(statuses[i]) << i;
    } else {
      ASSERT_FALSE(statuses[i]) << i;
      EXPECT_EQ(statuses[i].error().errno_value(), EEXIST);
    }
  }
}

TEST_F(Netlink, unfit_request_is_refused_and_its_neighbours_are_done) {
  auto socket = Socket::open(Bus::route).value();
  std::vector<Message> messages;
  messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1000, 100));
  messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1001, 100));
  messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1002, 100));
  messages[1].put_bytes(FRA_PAD, std::vector<std::byte>(70000));
  const auto statuses = socket.transact_all(messages);
  EXPECT_TRUE(statuses[0]);
  EXPECT_EQ(statuses[1].error().fault(), base::Fault::invalid);
  EXPECT_TRUE(statuses[2]);
}

TEST_F(Netlink, nothing_is_sent_after_a_stop) {
  auto socket = Socket::open(Bus::route).value();
  std::stop_source stop;
  stop.request_stop();
  std::vector<Message> messages = {rule(RTM_NEWRULE, NLM_F_CREATE, 1000, 100)};
  const auto statuses = socket.transact_all(messages, stop.get_token());
  EXPECT_EQ(statuses[0].error().fault(), base::Fault::cancelled);
  EXPECT_EQ(run("ip rule | wc -l"), "3\n");
}

TEST_F(Netlink, dump_sees_all_of_a_long_table) {
  auto socket = Socket::open(Bus::route).value();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 5000; ++i) messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1000 + i, 100));
  for (const auto& status : socket.transact_all(messages)) ASSERT_TRUE(status);
  std::size_t seen = 0;
  const auto dump = socket.dump(rule_dump(AF_INET), [&](const Received& received) {
    seen += received.type == RTM_NEWRULE ? 1 : 0;
    return base::Status{};
  });
  ASSERT_TRUE(dump) << dump.error().message();
  EXPECT_EQ(seen, 5003);
  EXPECT_FALSE(dump->interrupted);
}

TEST_F(Netlink, dump_error_inside_done_is_an_error_not_an_empty_table) {
  auto socket = Socket::open(Bus::route).value();
  rtmsg header{};
  header.rtm_family = AF_INET;
  Message filtered(RTM_GETROUTE, 0, header);
  filtered.put_u32(RTA_TABLE, 4242);
  const auto dump = socket.dump(std::move(filtered), [](const Received&) { return base::Status{}; });
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().errno_value(), ENOENT);
  EXPECT_EQ(dump.error().fault(), base::Fault::absent);
}

TEST_F(Netlink, after_an_error_of_the_visitor_the_socket_works_on) {
  auto socket = Socket::open(Bus::route).value();
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(socket.transact(rule(RTM_NEWRULE, NLM_F_CREATE, static_cast<std::uint32_t>(1000 + i), 100)));
  }
  const auto dump = socket.dump(rule_dump(AF_INET),
                                [](const Received&) { return base::Status(base::fail(base::Fault::bug, "enough")); });
  EXPECT_EQ(dump.error().message(), "enough");
  EXPECT_TRUE(socket.dump(rule_dump(AF_INET6), [](const Received&) { return base::Status{}; }));
}

TEST_F(Netlink, F10_an_answer_that_does_not_come_in_time_is_no_empty_table) {
  auto socket = Socket::open(Bus::route, 50ms).value();
  std::thread([&] {
    ASSERT_TRUE(refuse_calls(SYS_recvmsg, EAGAIN));
    const auto dump = socket.dump(rule_dump(AF_INET), [](const Received&) { return base::Status{}; });
    ASSERT_FALSE(dump);
    EXPECT_EQ(dump.error().fault(), base::Fault::timeout);
    EXPECT_EQ(socket.transact(rule(RTM_NEWRULE, NLM_F_CREATE, 1000, 100)).error().fault(), base::Fault::timeout)
        << "whether it was done is not known";
  }).join();
  EXPECT_EQ(run("ip rule show priority 1000"), "1000:\tfrom all lookup 100\n");
}

TEST_F(Netlink, F10_a_lost_answer_is_an_error_of_every_request_that_waited_for_it) {
  auto socket = Socket::open(Bus::route).value();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 3; ++i) messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1000 + i, 100));
  std::thread([&] {
    ASSERT_TRUE(refuse_calls(SYS_recvmsg, ENOBUFS));
    for (const auto& status : socket.transact_all(messages)) EXPECT_EQ(status.error().errno_value(), ENOBUFS);
    const auto dump = socket.dump(rule_dump(AF_INET), [](const Received&) { return base::Status{}; });
    EXPECT_EQ(dump.error().errno_value(), ENOBUFS);
  }).join();
}

// A dump of which nobody reads the rest is under way for ever, and the kernel has one at a time.
TEST_F(Netlink, F10_after_an_answer_that_could_not_be_read_the_next_one_is_whole) {
  constexpr int kRules = 3000;  // Of far more than one datagram.
  auto socket = Socket::open(Bus::route).value();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < kRules; ++i) messages.push_back(rule(RTM_NEWRULE, NLM_F_CREATE, 1000 + i, 100));
  for (const auto& status : socket.transact_all(messages)) ASSERT_TRUE(status);
  int seen = 0;
  const auto count = [&](const Received&) {
    ++seen;
    return base::Status{};
  };
  std::thread([&] {
    ASSERT_TRUE(refuse_calls(SYS_recvmsg, ENOMEM));
    EXPECT_EQ(socket.dump(rule_dump(AF_INET), count).error().errno_value(), ENOMEM);
  }).join();
  const auto dump = socket.dump(rule_dump(AF_INET), count);
  ASSERT_TRUE(dump) << dump.error().message();
  EXPECT_EQ(seen, kRules + 3) << "and those of the kernel";
}

// A refusal without NETLINK_CAP_ACK carries the whole request, and so can be longer than any buffer.
TEST_F(Netlink, F10_an_answer_that_was_cut_is_an_error) {
  auto endpoint = Endpoint::open(Bus::route).value();
  Message request(RTM_NEWRULE, NLM_F_CREATE, rules(AF_INET6));  // Without a table: refused.
  for (int i = 0; i < 2; ++i) request.put_bytes(FRA_PAD, std::vector<std::byte>(60000));
  ASSERT_TRUE(endpoint.send(request.bytes()));
  const auto answer = endpoint.receive(std::chrono::steady_clock::now() + 10s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message(), "netlink answer was cut");
}

TEST_F(Netlink, socket_stays_in_the_namespace_it_was_opened_in) {
  auto socket = Socket::open(Bus::route).value();
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    ASSERT_TRUE(socket.transact(rule(RTM_NEWRULE, NLM_F_CREATE, 1000, 100)));
  }).join();
  EXPECT_EQ(run("ip rule show priority 1000"), "1000:\tfrom all lookup 100\n");
}

TEST_F(Netlink, answer_of_one_object_goes_to_the_visitor) {
  auto socket = Socket::open(Bus::route).value();
  Message get(RTM_GETLINK, 0, ifinfomsg{});
  get.put_text(IFLA_IFNAME, "lo");
  int seen = 0;
  ASSERT_TRUE(socket.transact(std::move(get), [&](const Received& received) {
    seen += received.type == RTM_NEWLINK ? 1 : 0;
    return base::Status{};
  }));
  EXPECT_EQ(seen, 1);
}

// As root of a user namespace is: without the capability on the machine itself.
TEST_F(Netlink, a_transaction_beyond_the_machines_limit_names_what_to_raise) {
  std::thread([] {  // Capabilities belong to the thread.
    auto socket = Socket::open(Bus::netfilter).value();
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    ASSERT_EQ(::syscall(SYS_capset, &header, none.data()), 0);
    std::vector<Message> messages(400, Message(NLMSG_NOOP, 0));
    for (Message& message : messages) message.put_bytes(1, std::vector<std::byte>(60'000));
    const auto refused = socket.transact_whole(messages, 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().errno_value(), EMSGSIZE);
    EXPECT_NE(refused.error().message().find("raise"), std::string::npos) << refused.error().message();
  })
      .join();
}

}  // namespace
}  // namespace kernel
