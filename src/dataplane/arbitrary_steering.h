#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "dataplane/packet_model.h"
#include "dataplane/steering.h"

// For property tests. Few values per field, so that sources, VIPs, priorities and tables meet often.
namespace dataplane::arbitrary {

inline net::Address address(std::string_view text) {
  return net::Address::parse(text).value();
}

inline std::vector<net::Address> sources() {
  return {address("10.244.0.1"), address("10.244.0.2"), address("10.244.0.3"), address("fd00::1"), address("fd00::2")};
}
inline std::vector<net::Address> vips() {
  return {address("203.0.113.1"), address("203.0.113.2"), address("2001:db8::1")};
}
inline std::vector<net::Address> clients() {
  return {address("198.51.100.7"), address("10.244.9.9"), address("2001:db8:c::7"), address("fd00:9::9")};
}

template <typename T>
std::vector<T> some_of(std::vector<T> all) {
  std::erase_if(all, [](const T&) { return *rc::gen::arbitrary<bool>(); });
  return all;
}

inline Target target() {
  return {.priority = *rc::gen::inRange(2U, 8U),
          .table = *rc::gen::inRange(100U, 104U),
          .epoch = *rc::gen::inRange<std::uint64_t>(1, 4)};
}

inline std::vector<Source> some_sources() {
  std::vector<Source> out;
  for (const auto& from : sources()) {
    for (int wishes = *rc::gen::inRange(0, 4); wishes > 0; --wishes) out.push_back({from, target()});
  }
  return out;
}

inline std::vector<Reply> some_replies() {
  std::vector<Reply> out;
  for (const auto& vip : vips()) {
    for (int wishes = *rc::gen::inRange(0, 3); wishes > 0; --wishes) {
      out.push_back({vip, target(), *rc::gen::arbitrary<bool>()});
    }
  }
  return out;
}

inline Steering steering() {
  Steering out{.sources = some_sources(), .replies = some_replies()};
  for (const auto& bound : some_of(sources())) {
    if (*rc::gen::inRange(0, 4) == 0) out.facts.local.insert(bound);
  }
  for (const auto* prefix : {"10.244.0.0/16", "fd00::/16"}) {
    if (*rc::gen::arbitrary<bool>()) out.facts.cluster_prefixes.insert(net::Prefix::parse(prefix).value());
  }
  out.numbers.window = *rc::gen::element(0x3f00U, 0x3f00U, 0x3000U);
  return out;
}

// Every packet there can be among these addresses, with every choice of tables that have a route for it.
template <typename Visit>
void each_packet(const Steering& steering, Visit visit) {
  for (const auto& source : sources()) {
    for (const bool from_node : {false, true}) {
      // What the node sends from an address that is not its own does not exist.
      if (from_node && !steering.facts.local.contains(source)) continue;
      std::vector<std::pair<std::optional<net::Address>, net::Address>> flows = {{std::nullopt, net::Address()}};
      for (const auto& vip : vips()) {
        for (const auto& client : clients()) {
          if (vip.family() == source.family() && client.family() == source.family()) flows.emplace_back(vip, client);
        }
      }
      for (const auto& [vip, client] : flows) {
        for (unsigned routed = 0; routed < 32; ++routed) {
          model::Routes routes{.main_is_precise = (routed & 16U) != 0};
          for (std::uint32_t i = 0; i < 4; ++i) {
            if ((routed >> i & 1U) != 0) routes.tables.insert(100 + i);
          }
          visit(model::Packet{source, from_node, vip, client}, routes);
        }
      }
    }
  }
}

}  // namespace dataplane::arbitrary
