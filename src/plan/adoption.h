#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/address.h"
#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

// What the old project was asked to have in the kernel. It did not sign its rules, and where no priority was given it
// left the choice to the kernel.
struct Heirloom {
  net::Address source;
  std::uint32_t table = 0;
  std::optional<std::uint32_t> priority{};  // None: any before `main`.
  auto operator<=>(const Heirloom&) const = default;
};

// The observed rules that the old project made for these: exactly such rules, without protocol. They count as ours, so
// that they go when ours are there, or when nobody wants them any more. In order.
// One whose removal could take another's (plan/sure_removal.h) is left where it is.
std::vector<state::Rule> adopted(std::span<const Heirloom> heirlooms, const state::NetState& observed,
                                 const Ownership& ownership);

}  // namespace plan
