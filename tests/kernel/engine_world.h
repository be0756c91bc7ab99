#pragma once

#include <initializer_list>
#include <optional>
#include <utility>

#include "kernel/engine.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {

// A RouteWorld with an engine for all that there is to program.
class EngineWorld : public RouteWorld {
 protected:
  static constexpr auto kDefault = "default via 10.0.0.1 dev eth0 table 7 proto 183";
  static constexpr auto kDefaultV6 = "default via fd00::1 dev eth0 table 7 proto 183 metric 1024";

  Engine& engine() {
    if (!engine_) engine_.emplace(Engine::open({}, Engine::Reach::all).value());
    return *engine_;
  }
  Engine::Report converge(const state::NetState& wanted) {
    auto report = engine().converge(wanted, {});
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }
  static state::NetState routes(std::initializer_list<const char*> v4_lines,
                                std::initializer_list<const char*> v6_lines = {}) {
    state::NetState out;
    for (const auto* line : v4_lines) out.routes.push_back(route_of(v4, line));
    for (const auto* line : v6_lines) out.routes.push_back(route_of(v6, line));
    return out;
  }

 private:
  std::optional<Engine> engine_;
};

}  // namespace kernel::rtnl
