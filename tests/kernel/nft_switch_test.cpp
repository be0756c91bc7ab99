#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "kernel/nft/watch.h"
#include "tests/kernel/steered_scene.h"

namespace {

using namespace std::chrono_literals;
using dataplane::Mode;

class NftSwitch : public SteeredScene {
 protected:
  // Talks over 200 conversations per family while `change` runs, and counts every reply by its uplink.
  template <typename Change>
  void talk_during(Change change) {
    lab::Host& client = scene().client();
    Flows v4(client, ip("198.18.7.9"), node().service[0], 200);
    Flows v6(client, ip("2001:db8:7::9"), node().service[1], 200);
    auto wrong = lab::Tap::open(*node().host, "eth0").value();
    std::atomic<bool> over = false;
    std::jthread changing([&] {
      change();
      over = true;
    });
    int rounds = 0;
    while (!over || rounds == 0) {
      ASSERT_TRUE(v4.ask());
      ASSERT_TRUE(v6.ask());
      ++rounds;
    }
    int misrouted = 0;
    const auto packets = wrong.take().value();
    for (const auto& packet : packets) {
      if (packet.outgoing && (packet.source == node().service[0] || packet.source == node().service[1])) ++misrouted;
    }
    EXPECT_EQ(misrouted, 0);
    EXPECT_EQ(v4.answered(), v4.sent());
    EXPECT_EQ(v6.answered(), v6.sent());
    fmt::print("{} requests over 400 conversations, {} answered, {} misrouted\n", v4.sent() + v6.sent(),
               v4.answered() + v6.answered(), misrouted);
  }
};

TEST_F(NftSwitch, no_packet_is_misrouted_while_the_back_ends_change_to_and_fro) {
  build();
  dataplane::Steering steering;
  constexpr dataplane::Target kSwitchTarget{.priority = 1000, .table = lab::Scene::kTable};
  for (const auto& address : node().service) steering.sources.push_back({address, kSwitchTarget});
  for (int i = 0; i < 200; ++i) steering.sources.push_back({ip(fmt::format("10.97.0.{}", i)), kSwitchTarget});
  steering.mode = Mode::rules;
  settle(node(), steering);
  talk_during([&] {
    for (int i = 0; i < 20; ++i) {
      steering.mode = i % 2 == 0 ? Mode::marks : Mode::rules;
      settle(node(), steering);
    }
  });
}

TEST_F(NftSwitch, no_packet_is_misrouted_while_other_sources_and_classes_come_and_go) {
  build();
  dataplane::Steering steering{.mode = Mode::marks};
  constexpr dataplane::Target kSwitchTarget{.priority = 1000, .table = lab::Scene::kTable};
  for (const auto& address : node().service) steering.sources.push_back({address, kSwitchTarget});
  settle(node(), steering);
  const std::size_t kept = steering.sources.size();
  talk_during([&] {
    for (std::uint32_t i = 0; i < 20; ++i) {
      const auto before = dataplane::compile(steering);
      steering.marks = dataplane::read_back(before.rules, before.table, steering.numbers.window, 183);
      steering.sources.resize(kept);
      steering.sources.push_back({ip(fmt::format("10.97.0.{}", i)), {.priority = 900 + i, .table = 300 + i}});
      steering.replies = {{ip("203.0.113.1"), {.priority = 800 + i % 3, .table = 400}}};
      settle(node(), steering);
    }
  });
}

}  // namespace
