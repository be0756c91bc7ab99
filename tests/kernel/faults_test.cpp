// Rows F of the fault catalogue that need no API server: other programs change rules under the engine.
#include <atomic>
#include <chrono>
#include <future>
#include <linux/capability.h>
#include <random>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "kernel/engine.h"
#include "kernel/monitor.h"
#include "kernel/rtnl/rule.h"
#include "testbed/eventually.h"
#include "tests/kernel/refuse_calls.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

using namespace std::chrono_literals;
using state::NetState;
using state::Rule;

class Faults : public Sandbox {
 protected:
  static Rule source(std::uint32_t number, std::uint32_t priority = 500, std::uint8_t protocol = 183) {
    Rule rule{.priority = priority, .protocol = protocol, .table = 100};
    const std::array<std::uint8_t, 4> bytes = {10, static_cast<std::uint8_t>(number >> 16U),
                                               static_cast<std::uint8_t>(number >> 8U),
                                               static_cast<std::uint8_t>(number)};
    rule.selector.from = net::Prefix::host(net::Address::from_bytes(std::as_bytes(std::span(bytes))).value());
    return rule;
  }

  static NetState sources(std::uint32_t count) {
    NetState out;
    for (std::uint32_t i = 0; i < count; ++i) out.rules.push_back(source(i));
    return out;
  }

  static Engine::Report converge(Engine& engine, const NetState& wanted) {
    auto report = engine.converge(wanted, {});
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }
};

// Another program that adds and deletes its own rules as fast as it can, until it is stopped, or with quiet spells of
// all lengths up to the longest.
class Churn {
 public:
  explicit Churn(const std::vector<Rule>& rules, std::chrono::milliseconds longest_spell = 0ms)
      : rules_(rules), longest_spell_(longest_spell) {}

  std::uint64_t changes() const { return changes_; }

 private:
  void run(const std::stop_token& stop) {
    auto socket = Socket::open(Bus::route).value();
    std::minstd_rand random(1);
    while (!stop.stop_requested()) {
      if (longest_spell_ > 0ms) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(random() % static_cast<unsigned>(longest_spell_.count())));
      }
      for (const bool add : {true, false}) {
        std::vector<Message> messages;
        for (const Rule& rule : rules_) {
          messages.push_back(add ? rtnl::encode_add(rule, false).value() : rtnl::encode_remove(rule).value());
        }
        socket.transact_all(messages);
        changes_ += messages.size();
      }
    }
  }

  std::vector<Rule> rules_;
  std::chrono::milliseconds longest_spell_;
  std::atomic<std::uint64_t> changes_{0};
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

TEST_F(Faults, F2_flush_of_everything_brings_ours_back_and_leaves_the_baseline_to_its_owner) {
  auto engine = Engine::open({}).value();
  const auto wanted = sources(50);
  converge(engine, wanted);
  run("ip rule flush");
  EXPECT_TRUE(converge(engine, wanted).settled());
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "50\n");
  EXPECT_EQ(run("ip rule show table main"), "");
}

TEST_F(Faults, F4_unwanted_rule_under_our_number_is_removed_and_a_wanted_one_left) {
  auto engine = Engine::open({}).value();
  run("ip rule add from 10.9.9.9 lookup 7 priority 77 protocol 183");
  run("ip rule add from 10.0.0.1 lookup 100 priority 500 protocol 183");
  const auto report = converge(engine, {.rules = {source(1)}});
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(text(report.done), "remove IPv4 rule 77: from 10.9.9.9 lookup 7 proto 183\n");
}

TEST_F(Faults, F5_overrun_of_the_monitor_says_that_everything_changed) {
  auto engine = Engine::open({}).value();
  runtime::Signal changed;
  // Held where it tells of the first event, the monitor reads nothing while far more arrive than its buffer takes.
  std::promise<void> held;
  std::promise<void> released;
  const runtime::Signal::Listener hold(changed, [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    held.set_value();
    released.get_future().wait();
  });
  const auto monitor = Monitor::start(engine.port(), changed, 1).value();  // The kernel's minimum: a few events.
  auto other = Socket::open(Bus::route).value();
  auto first = rtnl::encode_add(source(0, 900), false).value();
  other.transact_all({&first, 1});
  held.get_future().wait();

  std::vector<Message> burst;
  for (std::uint32_t i = 1; i < 200; ++i) burst.push_back(rtnl::encode_add(source(i, 900), false).value());
  other.transact_all(burst);
  released.set_value();
  Kinds told;
  EXPECT_TRUE(testbed::eventually("everything is said to have changed", 10s, [&] {
    told.add(monitor->take());
    return told == Kinds::all();
  }));
  EXPECT_GT(monitor->overruns(), 0);
}

TEST_F(Faults, F6_no_verified_view_is_wrong_while_others_change_rules) {
  auto engine = Engine::open({}).value();
  const auto stable = sources(2000);
  ASSERT_TRUE(converge(engine, stable).settled());
  std::vector<Rule> foreign;
  for (std::uint32_t i = 0; i < 200; ++i) foreign.push_back(source(70000 + i, 400, 4));

  Churn churn(foreign, 5ms);
  int verified = 0;
  int unverified = 0;
  int wrong = 0;
  int wrong_but_unverified = 0;
  // Until there was a quiet moment, and one that was none: else this could not fail.
  EXPECT_TRUE(testbed::eventually("verified views, and others", 120s, [&] {
    const auto seen = engine.observe({}).value();
    std::vector<Rule> own;
    for (const Rule& rule : state::state_of(seen).rules) {
      if (rule.protocol == 183) own.push_back(rule);
    }
    const bool right = own == stable.rules;
    if (state::is_verified(seen)) {
      ++verified;
      wrong += right ? 0 : 1;
    } else {
      ++unverified;
      wrong_but_unverified += right ? 0 : 1;
      // What an unverified view leads to does no harm.
      engine.apply(plan::diff(seen, stable, engine.ownership()), {});
    }
    return verified + unverified >= 60 && verified > 0 && unverified > 0;
  }));
  EXPECT_EQ(wrong, 0);
  std::printf("%d verified views, %d unverified of which %d wrong, %lu foreign changes\n", verified, unverified,
              wrong_but_unverified, static_cast<unsigned long>(churn.changes()));
}

TEST_F(Faults, F6_repair_goes_on_under_endless_churn) {
  auto engine = Engine::open({}).value();
  std::vector<Rule> foreign;
  for (std::uint32_t i = 0; i < 200; ++i) foreign.push_back(source(70000 + i, 400, 4));
  {
    Churn churn(foreign);
    for (int i = 0; i < 3; ++i) converge(engine, sources(100));
  }
  EXPECT_EQ(run("ip rule show priority 500 | sort | uniq -c | awk '$1 == 1' | wc -l"), "100\n");
  EXPECT_TRUE(converge(engine, sources(100)).settled());
}

TEST_F(Faults, F7_rule_that_somebody_added_first_is_taken_as_ours_after_a_read_back) {
  auto engine = Engine::open({}).value();
  const NetState wanted{.rules = {source(1)}};
  const auto seen = engine.observe({}).value();
  const auto todo = plan::diff(seen, wanted, engine.ownership());
  run("ip rule add from 10.0.0.1 lookup 100 priority 500 protocol 183");
  const auto outcome = engine.apply(todo, {});
  EXPECT_EQ(outcome.count(Effect::harmless), 1);
  EXPECT_EQ(outcome.count(Effect::failed), 0);
  EXPECT_TRUE(converge(engine, wanted).settled());
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "1\n");
}

TEST_F(Faults, copies_made_by_another_instance_during_a_bulk_are_removed) {
  auto one = Engine::open({}).value();
  auto two = Engine::open({}).value();
  const auto wanted = sources(300);
  const auto todo = plan::diff(one.observe({}).value(), wanted, one.ownership());
  ASSERT_TRUE(converge(two, wanted).settled());  // Between the other's look and its writes.
  one.apply(todo, {});
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "600\n");
  EXPECT_TRUE(converge(one, wanted).settled());
  EXPECT_EQ(run("ip rule show priority 500 | sort -u | wc -l"), "300\n");
  EXPECT_EQ(run("ip rule show priority 500 | wc -l"), "300\n");
}

// Beside the nft table, which both write as well.
TEST_F(Faults, S19_two_instances_with_one_wish_come_to_rest) {
  auto wanted = sources(100);
  wanted.rules.push_back(
      state::parse_rule(net::Family::v4, "900: from all fwmark 0x100/0x3f00 lookup 100 proto 183").value());
  wanted.nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}};
  for (std::uint32_t i = 0; i < 100; ++i) wanted.nft->sources[source(1000 + i).selector.from->address()] = 0x100;
  auto one = Engine::open({}, Engine::Reach::steering).value();
  auto two = Engine::open({}, Engine::Reach::steering).value();
  runtime::Signal changed;
  const auto first = Monitor::start(one.port(), changed).value();
  const auto second = Monitor::start(two.port(), changed).value();
  EXPECT_TRUE(testbed::eventually("neither has anything left to do", 30s, [&] {
    const bool was_told = !first->take().empty() || !second->take().empty();
    const auto by_one = converge(one, wanted);
    const auto by_two = converge(two, wanted);
    return !was_told && by_one.settled() && by_two.settled() && by_one.done.empty() && by_two.done.empty();
  }));
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_TRUE(converge(one, wanted).done.empty());
    EXPECT_TRUE(converge(two, wanted).done.empty());
  }
  EXPECT_TRUE(first->take().empty());
  EXPECT_TRUE(second->take().empty());
}

TEST_F(Faults, F8_without_the_capability_nothing_is_verified_and_writes_are_denied) {
  std::thread([] {  // Capabilities belong to the thread.
    auto engine = Engine::open({}).value();
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    ASSERT_EQ(::syscall(SYS_capset, &header, none.data()), 0);
    const auto seen = engine.observe({}).value();
    EXPECT_FALSE(state::is_verified(seen));
    EXPECT_EQ(state::state_of(seen).rules.size(), 5);
    const auto outcome = engine.apply(plan::diff(seen, {.rules = {source(1)}}, engine.ownership()), {});
    EXPECT_EQ(outcome.results[0].status.error().fault(), base::Fault::denied);
  })
      .join();
}

// A question alone is short, many changes together are long: refused are all requests, or only the changes.
TEST_F(Faults, F10_whatever_a_call_answers_the_pass_ends_harms_nobody_and_the_next_finishes) {
  run("ip rule add from 10.9.9.9 lookup 7 priority 400 protocol static");
  const std::string before = run("ip rule show priority 400; ip -6 rule");
  NetState wanted = sources(40);
  struct Refusal {
    std::uint32_t call;
    std::uint32_t error;
    std::uint32_t least;
  };
  constexpr std::uint32_t kChanges = 1000;
  std::vector<Refusal> refusals;
  for (const int refusal : {EAGAIN, EBUSY, ENOMEM, ENOBUFS, EPERM, EMSGSIZE, EINVAL, EOPNOTSUPP}) {
    const auto error = static_cast<std::uint32_t>(refusal);
    refusals.push_back({.call = SYS_sendto, .error = error, .least = 0});
    refusals.push_back({.call = SYS_sendto, .error = error, .least = kChanges});
  }
  for (const int refusal : {ENOMEM, EPERM}) {
    const auto error = static_cast<std::uint32_t>(refusal);
    refusals.push_back({.call = SYS_recvmsg, .error = error, .least = 0});
  }
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(base::errno_name(static_cast<int>(refusal.error)));
    for (Rule& rule : wanted.rules) ++rule.table;
    auto engine = Engine::open({}).value();
    std::thread([&] {
      ASSERT_TRUE(refuse_calls(refusal.call, refusal.error, refusal.call == SYS_sendto ? 2 : 0, refusal.least));
      const auto report = engine.converge(wanted, {});
      EXPECT_FALSE(report && report->settled()) << "what was not done is not said to be";
    }).join();
    auto next = Engine::open({}).value();
    EXPECT_TRUE(converge(next, wanted).settled());
    EXPECT_EQ(run("ip rule show priority 400; ip -6 rule"), before);
  }
}

TEST_F(Faults, stop_ends_a_long_apply_between_windows) {
  auto engine = Engine::open({}).value();
  std::stop_source stop;
  stop.request_stop();
  const auto todo = plan::diff(engine.observe({}).value(), sources(500), engine.ownership());
  const auto outcome = engine.apply(todo, stop.get_token());
  EXPECT_EQ(outcome.count(Effect::failed), 500);
  EXPECT_EQ(outcome.results[0].status.error().fault(), base::Fault::cancelled);
  EXPECT_EQ(run("ip rule show priority 500"), "");
}

}  // namespace
}  // namespace kernel
