#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/file.h"
#include "bench/fresh_namespace.h"
#include "bench/kernel_marks.h"
#include "bench/kernel_routes.h"
#include "bench/measure.h"
#include "bench/peer.h"
#include "bench/samples.h"
#include "kernel/engine.h"
#include "lab/process.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

base::Result<double> ours(const state::NetState& desired) {
  TRY(fresh_namespace());
  auto engine = TRY(kernel::Engine::open({}));
  return timed([&]() -> base::Status {
    const auto report = TRY(engine.converge(desired, {}));
    if (!report.settled()) return base::fail(base::Fault::bug, "not settled");
    return {};
  });
}

// For what takes a few milliseconds and may be done again: one interrupt would be all that is seen.
template <typename Action>
base::Result<double> timed_often(Action action) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(TRY(timed(action)));
  return median(std::move(times));
}

base::Result<double> ours_again(const state::NetState& desired) {
  TRY(fresh_namespace());
  auto engine = TRY(kernel::Engine::open({}));
  TRY(engine.converge(desired, {}));
  return timed_often([&]() -> base::Status {
    const auto report = TRY(engine.converge(desired, {}));
    if (!report.settled() || !report.done.empty()) return base::fail(base::Fault::bug, "not quiet");
    return {};
  });
}

// The least that can be sent: fixed messages, no check for copies, one ack each, read in bulk. By hand, so that it owes
// nothing to the code it is compared with.
struct RawRule {
  nlmsghdr header;
  fib_rule_hdr rule;
  rtattr source_head;
  std::array<std::byte, 4> source;
  rtattr priority_head;
  std::uint32_t priority;
  rtattr table_head;
  std::uint32_t table;
  rtattr protocol_head;
  std::array<std::uint8_t, 4> protocol;  // One byte and its padding.
};

RawRule raw(const state::Rule& rule, std::uint32_t sequence) {
  RawRule out{};
  out.header = {.nlmsg_len = sizeof out,
                .nlmsg_type = RTM_NEWRULE,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE,
                .nlmsg_seq = sequence,
                .nlmsg_pid = 0};
  out.rule.family = AF_INET;
  out.rule.src_len = 32;
  out.rule.action = FR_ACT_TO_TBL;
  out.source_head = {.rta_len = 8, .rta_type = FRA_SRC};
  std::memcpy(out.source.data(), rule.selector.from->address().bytes().data(), 4);
  out.priority_head = {.rta_len = 8, .rta_type = FRA_PRIORITY};
  out.priority = rule.priority;
  out.table_head = {.rta_len = 8, .rta_type = FRA_TABLE};
  out.table = rule.table;
  out.protocol_head = {.rta_len = 5, .rta_type = FRA_PROTOCOL};
  out.protocol[0] = rule.protocol;
  return out;
}

base::Status read_acks(const base::Fd& socket, std::size_t count) {
  std::array<std::byte, 32768> buffer;
  while (count > 0) {
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return base::fail_errno("recv", errno);
    auto left = static_cast<unsigned>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
      int error = 0;
      std::memcpy(&error, reinterpret_cast<std::byte*>(head) + NLMSG_HDRLEN, sizeof error);
      if (error != 0) return base::fail_errno("raw rule", -error);
      --count;
    }
  }
  return {};
}

base::Result<double> raw_adds(const state::NetState& desired) {
  constexpr std::size_t kWindow = 64;
  TRY(fresh_namespace());
  const base::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return base::fail_errno("socket", errno);
  const int size = 4 << 20;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  std::vector<RawRule> messages;
  for (const state::Rule& rule : desired.rules)
    messages.push_back(raw(rule, static_cast<std::uint32_t>(messages.size())));
  return timed([&]() -> base::Status {
    for (std::size_t at = 0; at < messages.size(); at += kWindow) {
      const std::size_t count = std::min(kWindow, messages.size() - at);
      if (::send(socket.get(), &messages[at], count * sizeof(RawRule), 0) < 0) return base::fail_errno("send", errno);
      TRY(read_acks(socket, count));
    }
    return {};
  });
}

base::Result<double> ip_batch(const state::NetState& desired) {
  TRY(fresh_namespace());
  const auto file = std::filesystem::temp_directory_path() / "rules.batch";
  std::string lines;
  for (const state::Rule& rule : desired.rules) {
    lines += fmt::format("rule add from {} lookup {} priority {} protocol 183\n", rule.selector.from->text(),
                         rule.table, rule.priority);
  }
  TRY(base::write_file(file, lines));
  return timed([&]() -> base::Status {
    const auto done = TRY(lab::run({.arguments = {"ip", "-batch", file.native()}}, 120s));
    if (!done.exit.ok()) return base::fail(base::Fault::unavailable, "ip -batch: " + done.errors);
    return {};
  });
}

// The library of the old project's agent.
base::Result<double> netlink_library(std::uint32_t count) {
  TRY(fresh_namespace());
  const std::string program = TRY(peer_program());
  const auto done = TRY(lab::run({.arguments = {program, "rules", std::to_string(count)}}, 120s));
  if (!done.exit.ok()) return base::fail(base::Fault::unavailable, done.errors);
  return std::strtod(done.output.c_str(), nullptr);
}

base::Result<double> raw_dump(const state::NetState& desired) {
  TRY(raw_adds(desired));
  const base::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return base::fail_errno("socket", errno);
  return timed_often([&]() -> base::Status {
    for (const int family : {AF_INET, AF_INET6}) {
      struct {
        nlmsghdr header;
        fib_rule_hdr rule;
      } request{};
      request.header = {.nlmsg_len = sizeof request,
                        .nlmsg_type = RTM_GETRULE,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                        .nlmsg_seq = 1,
                        .nlmsg_pid = 0};
      request.rule.family = static_cast<std::uint8_t>(family);
      if (::send(socket.get(), &request, sizeof request, 0) < 0) return base::fail_errno("send", errno);
      std::array<std::byte, 32768> buffer;
      for (bool done = false; !done;) {
        const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (got < 0) return base::fail_errno("recv", errno);
        auto left = static_cast<unsigned>(got);
        for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
             head = NLMSG_NEXT(head, left)) {
          done = done || head->nlmsg_type == NLMSG_DONE;
        }
      }
    }
    return {};
  });
}

// What is on the heap in MiB while the engine holds both sides: the least that a process with it needs.
base::Result<double> heap_of_engine(std::uint32_t rules) {
  TRY(fresh_namespace());
  const auto in_use = [] {
    const struct mallinfo2 heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd) / (1 << 20U);
  };
  const double before = in_use();
  const state::NetState desired = many_rules(rules);
  auto engine = TRY(kernel::Engine::open({}));
  TRY(engine.converge(desired, {}));
  const state::Observation observed = TRY(engine.observe({}));
  if (state::state_of(observed).rules.size() < rules) return base::fail(base::Fault::bug, "rules are missing");
  return in_use() - before;
}

}  // namespace

Group kernel_group() {
  const auto from_nothing = [](std::string name, const state::NetState& desired, Contender peer) {
    return Promise{.name = std::move(name),
                   .ours = [desired] { return ours(desired); },
                   .peer = std::move(peer),
                   .limit = Contender{"raw netlink", [desired] { return raw_adds(desired); }},
                   .budget = 1.3,
                   .rounds = 5};
  };
  const auto again = [](std::string name, const state::NetState& desired) {
    return Promise{.name = std::move(name),
                   .ours = [desired] { return ours_again(desired); },
                   .limit = Contender{"raw dump", [desired] { return raw_dump(desired); }},
                   .budget = 1.5,
                   .rounds = 5};
  };
  const state::NetState few = many_rules(2'000);
  const state::NetState many = many_rules(10'000);
  const state::NetState most = many_rules(20'000);
  Group group{.name = "kernel",
              .promises = {from_nothing("2,000 rules of one priority, from nothing", few,
                                        {"vishvananda", [] { return netlink_library(2'000); }}),
                           from_nothing("10,000 rules of one priority, from nothing", many,
                                        {"ip -batch", [many] { return ip_batch(many); }}),
                           from_nothing("20,000 rules of one priority, from nothing", most,
                                        {"ip -batch", [most] { return ip_batch(most); }}),
                           again("10,000 rules with nothing to do", many),
                           again("20,000 rules with nothing to do", most),
                           {.name = "heap with 20,000 rules observed and desired",
                            .ours = [] { return heap_of_engine(20'000); },
                            .budget = 8,
                            .rounds = 3,
                            .unit = "MiB"}},
              // The kernel looks through all rules of one priority for the place of the next.
              .growth = {{.name = "n rules from nothing",
                          .least = 2'500,
                          .expected = 2,
                          .work = [](std::uint32_t n) { return ours(many_rules(n)); },
                          .rounds = 3},
                         {.name = "n rules with nothing to do",
                          .least = 2'500,
                          .expected = 1,
                          .work = [](std::uint32_t n) { return ours_again(many_rules(n)); },
                          .rounds = 3}}};
  group.promises.push_back(routes_promise());
  std::ranges::move(marks_promises(), std::back_inserter(group.promises));
  std::ranges::move(marks_growth(), std::back_inserter(group.growth));
  return group;
}

}  // namespace bench
