#include <filesystem>
#include <linux/rtnetlink.h>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "bench/measure.h"
#include "bench/samples.h"
#include "kernel/engine.h"
#include "lab/process.h"

// Sources as marks of nftables, beside the same as rules.
namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kWindow = 0x3f00;
constexpr std::uint32_t kMark = 0x100;
constexpr std::uint32_t kSources = 20'000;
constexpr int kChanges = 50;
constexpr int kLookups = 1'000;

base::Status fresh_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) return base::fail_errno("unshare", errno);
  return {};
}

// The sources of many_rules(), in one class.
state::NetState many_marks(std::uint32_t count) {
  state::NetState out{.nft = state::NftTable{.window = kWindow, .classes = {{kMark, {}}}}};
  const state::NetState as_rules = many_rules(count);
  for (const state::Rule& rule : as_rules.rules) {
    out.nft->sources.emplace(rule.selector.from->address(), kMark);
  }
  out.rules = {{.priority = 1000,
                .selector = {.mark = state::Mark{.value = kMark, .mask = kWindow}},
                .protocol = 183,
                .table = 100}};
  return out;
}

base::Status settle(kernel::Engine& engine, const state::NetState& desired) {
  const auto report = TRY(engine.converge(desired, {}));
  if (!report.settled()) return base::fail(base::Fault::bug, "not settled");
  return {};
}

base::Result<kernel::Engine> settled_in_fresh_namespace(const state::NetState& desired) {
  TRY(fresh_namespace());
  auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
  TRY(settle(engine, desired));
  return engine;
}

base::Result<double> from_nothing(const state::NetState& desired) {
  TRY(fresh_namespace());
  auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
  return timed([&] { return settle(engine, desired); });
}

// The same map as a file, as an administrator would load it.
base::Result<double> nft_file(const state::NetState& desired) {
  TRY(fresh_namespace());
  const auto file = std::filesystem::temp_directory_path() / "sources.nft";
  std::string lines =
      "table inet iprule {\n chain source01 { meta mark set meta mark & 0xffffc0ff | 0x100; }\n"
      " map src4 { type ipv4_addr : verdict; elements = {\n";
  for (const auto& [address, mark] : desired.nft->sources) lines += address.text() + " : goto source01,\n";
  lines += "} }\n chain pre { type filter hook prerouting priority mangle; ip saddr vmap @src4; }\n}\n";
  TRY(base::write_file(file, lines));
  return timed([&]() -> base::Status {
    const auto done = TRY(lab::run({.arguments = {"nft", "-f", file.native()}}, 120s));
    if (!done.exit.ok()) return base::fail(base::Fault::unavailable, "nft -f: " + done.errors);
    return {};
  });
}

plan::Plan change_of(state::NftChange change) {
  plan::Plan out;
  out.ops = {plan::ChangeNft{std::make_shared<const state::NftChange>(std::move(change))}};
  return out;
}

// The change alone, as one transaction.
base::Result<double> one_more_and_less(const state::NetState& desired) {
  auto engine = TRY(settled_in_fresh_namespace(desired));
  const auto source = net::Address::parse("10.255.255.1").value();
  const auto more = change_of({.window = kWindow, .add_sources = {{source, kMark}}});
  const auto less = change_of({.window = kWindow, .remove_sources = {{source, kMark}}});
  const auto change = [&]() -> base::Status {
    for (int i = 0; i < kChanges; ++i) {
      for (const plan::Plan* todo : {&more, &less}) {
        const auto outcome = engine.apply(*todo, {});
        if (outcome.count(kernel::Effect::done) != 1) return base::fail(base::Fault::bug, "not done");
      }
    }
    return {};
  };
  return TRY(timed(change)) / (2 * kChanges);
}

// A whole pass over a node that is as wanted: rules are read, the table is remembered, both are compared.
base::Result<double> nothing_to_do(const state::NetState& desired) {
  auto engine = TRY(settled_in_fresh_namespace(desired));
  return timed([&] { return settle(engine, desired); });
}

// Microseconds that the kernel takes to choose a route for a packet that none of the rules is about.
base::Result<double> lookup(const state::NetState& desired) {
  auto engine = TRY(settled_in_fresh_namespace(desired));
  const auto loopback = TRY(lab::run({.arguments = {"ip", "link", "set", "lo", "up"}}, 10s));
  if (!loopback.exit.ok()) return base::fail(base::Fault::unavailable, "ip link: " + loopback.errors);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = 32;
  const auto ask = [&]() -> base::Status {
    for (int i = 0; i < kLookups; ++i) {
      kernel::Message question(RTM_GETROUTE, 0, header);
      question.put_address(RTA_DST, net::Address::parse("192.0.2.1").value());
      // No route leads there, and that is the answer: it has been looked for behind every rule.
      (void)engine.socket().transact(std::move(question), [](const kernel::Received&) { return base::Status(); });
    }
    return {};
  };
  return TRY(timed(ask)) * 1000 / kLookups;
}

}  // namespace

Group steering_group() {
  const state::NetState marks = many_marks(kSources);
  const state::NetState some_marks = many_marks(10'000);
  const state::NetState some_rules = many_rules(10'000);
  return {.name = "steering",
          .promises = {{.name = "20,000 sources as marks, from nothing",
                        .ours = [marks] { return from_nothing(marks); },
                        .limit = Contender{"nft -f", [marks] { return nft_file(marks); }},
                        .budget = 1.5},
                       {.name = "one source more or less among 20,000",
                        .ours = [marks] { return one_more_and_less(marks); },
                        .budget = 2},
                       {.name = "20,000 sources as marks, with nothing to do",
                        .ours = [marks] { return nothing_to_do(marks); },
                        .budget = 10},
                       {.name = "a lookup, 10,000 sources as marks",
                        .ours = [some_marks] { return lookup(some_marks); },
                        .peer = Contender{"as rules", [some_rules] { return lookup(some_rules); }},
                        .limit = Contender{"no rule", [] { return lookup({}); }},
                        .budget = 1.5,
                        .unit = "us"}}};
}

}  // namespace bench
