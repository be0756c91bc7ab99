#include "bench/rule_events.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <linux/rtnetlink.h>
#include <optional>
#include <poll.h>

#include "kernel/engine.h"
#include "kernel/rtnl/rule.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 120s;
constexpr std::uint8_t kOurs = 183;

}  // namespace

base::Result<RuleEvents> RuleEvents::listen(lab::Host& node) {
  std::optional<kernel::EventSocket> socket;
  const auto open = [&]() -> base::Status {
    constexpr std::array kGroups = {static_cast<int>(RTNLGRP_IPV4_RULE)};
    socket = TRY(kernel::EventSocket::open(kernel::Bus::route, kGroups, std::size_t{16} << 20U));
    return {};
  };
  TRY(node.within(open));
  return RuleEvents(*std::move(socket));
}

base::Status RuleEvents::read(lab::Host& node) {
  return node.within([this]() -> base::Status {
    auto engine = TRY(kernel::Engine::open({}));
    const state::Observation observed = TRY(engine.observe({}));
    for (const state::Rule& rule : state::state_of(observed).rules) {
      if (rule.protocol == kOurs && rule.selector.from) seen_.push_back(rule);
    }
    return {};
  });
}

template <typename Take, typename Done>
base::Status RuleEvents::follow(Take take, Done done) {
  const auto until = Clock::now() + kPatience;
  while (!done()) {
    TRY(socket_.drain([&](const kernel::Received& event) {
      const auto decoded = kernel::rtnl::decode_rule(event);
      if (!decoded || !std::holds_alternative<state::Rule>(*decoded)) return;
      const auto& rule = std::get<state::Rule>(*decoded);
      if (rule.protocol == kOurs && rule.selector.from) take(event.type, rule);
    }));
    if (done()) break;
    if (Clock::now() > until) return base::fail(base::Fault::timeout, "no more notifications of our rules come");
    pollfd ready{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, 1000);
  }
  return {};
}

base::Status RuleEvents::await(std::vector<std::string> sources) {
  std::ranges::sort(sources);
  std::size_t left = sources.size();
  const auto take = [&](int type, const state::Rule& rule) {
    if (type != RTM_NEWRULE) return;
    if (!std::ranges::binary_search(sources, rule.selector.from->address().text())) return;
    seen_.push_back(rule);
    --left;
  };
  return follow(take, [&] { return left == 0; });
}

base::Status RuleEvents::await_end() {
  std::size_t left = seen_.size();
  const auto take = [&](int type, const state::Rule&) { left -= type == RTM_DELRULE && left > 0 ? 1 : 0; };
  return follow(take, [&] { return left == 0; });
}

base::Result<double> RuleEvents::repair(lab::Host& node, std::size_t i) {
  const state::Rule rule = seen_.at(i);
  kernel::Message removal = TRY(kernel::rtnl::encode_remove(rule));
  const auto start = Clock::now();
  TRY(node.rtnl().transact(std::move(removal)));
  bool back = false;
  const auto take = [&](int type, const state::Rule& event) { back = back || (type == RTM_NEWRULE && event == rule); };
  TRY(follow(take, [&] { return back; }));
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace bench
