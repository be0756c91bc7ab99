#include "bench/kernel_routes.h"

#include <cstdlib>
#include <string>

#include "bench/fresh_namespace.h"
#include "bench/peer.h"
#include "bench/samples.h"
#include "kernel/engine.h"
#include "lab/isolation.h"
#include "lab/process.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kRoutes = 10'000;

base::Result<double> ours() {
  TRY(fresh_namespace());
  TRY(lab::raise_loopback());
  state::NetState desired;
  const auto sources = many_rules(kRoutes);
  for (const state::Rule& rule : sources.rules) {
    desired.routes.push_back({.table = 100,
                              .to = *rule.selector.from,
                              .protocol = 183,
                              .scope = state::kScopeLink,
                              .hops = {{.dev = net::InterfaceName::parse("lo").value()}}});
  }
  auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::all));
  return timed([&]() -> base::Status {
    const auto report = TRY(engine.converge(desired, {}));
    return report.settled() ? base::Status() : base::fail(base::Fault::bug, "not settled");
  });
}

base::Result<double> by_library() {
  TRY(fresh_namespace());
  TRY(lab::raise_loopback());
  const std::string program = TRY(peer_program());
  const auto done = TRY(lab::run({.arguments = {program, "routes", std::to_string(kRoutes)}}, 120s));
  if (!done.exit.ok()) return base::fail(base::Fault::unavailable, done.errors);
  return std::strtod(done.output.c_str(), nullptr);
}

}  // namespace

Promise routes_promise() {
  return {.name = "10,000 routes of one table, from nothing, read back",
          .ours = ours,
          .peer = Contender{"vishvananda", by_library},
          .rounds = 5};
}

}  // namespace bench
