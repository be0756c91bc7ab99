#include "bench/kernel_marks.h"

#include <filesystem>
#include <memory>
#include <sched.h>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "bench/fresh_namespace.h"
#include "bench/measure.h"
#include "bench/samples.h"
#include "kernel/engine.h"
#include "lab/process.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSources = 20'000;
constexpr int kChanges = 50;

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
  const auto more = change_of({.window = kMarkWindow, .add_sources = {{source, kMark}}});
  const auto less = change_of({.window = kMarkWindow, .remove_sources = {{source, kMark}}});
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

}  // namespace

std::vector<Promise> marks_promises() {
  const state::NetState marks = many_marks(kSources);
  return {{.name = "20,000 sources as marks, from nothing",
           .ours = [marks] { return from_nothing(marks); },
           .limit = Contender{"nft -f", [marks] { return nft_file(marks); }},
           .budget = 1.5},
          {.name = "10,000 sources as marks, from nothing",
           .ours = [some = many_marks(kSources / 2)] { return from_nothing(some); },
           .budget = 100},
          {.name = "one source more or less among 20,000",
           .ours = [marks] { return one_more_and_less(marks); },
           .budget = 2},
          {.name = "20,000 sources as marks, with nothing to do",
           .ours = [marks] { return nothing_to_do(marks); },
           .budget = 10}};
}

std::vector<Growth> marks_growth() {
  return {{.name = "n sources as marks, from nothing",
           .least = 5'000,
           .expected = 1,
           .work = [](std::uint32_t n) { return from_nothing(many_marks(n)); },
           .rounds = 3},
          {.name = "one source more or less among n",
           .least = 5'000,
           .expected = 0,
           .work = [](std::uint32_t n) { return one_more_and_less(many_marks(n)); },
           .rounds = 3}};
}

}  // namespace bench
