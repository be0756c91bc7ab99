#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "state/net_state.h"
#include "state/nft_change.h"

namespace plan {

struct AddRule {
  state::Rule rule{};
  bool exclusive = true;  // Let the kernel refuse a copy. Costs a comparison with every rule there is.
  bool operator==(const AddRule&) const = default;
};

struct RemoveRule {
  state::Rule rule{};
  bool operator==(const RemoveRule&) const = default;
};

struct RemoveOpaqueRule {
  state::OpaqueRule rule{};
  bool operator==(const RemoveOpaqueRule&) const = default;
};

// The other kinds of objects.
template <typename Object>
struct Add {
  Object object{};
  bool operator==(const Add&) const = default;
};

template <typename Object>
struct Remove {
  Object object{};
  bool operator==(const Remove&) const = default;
};

// In one step of the kernel's. `from` is one that was read, or none where it was opaque: what stands there is ours.
template <typename Object>
struct Replace {
  std::optional<Object> from{};
  Object to{};
  bool operator==(const Replace&) const = default;
};

// Settings of a link that is there.
struct Set {
  state::ObservedLink own{};
  state::Link to{};
  bool operator==(const Set&) const = default;
};

// Our nft table, in one step. Shared, because it is large and operations are many.
struct ChangeNft {
  std::shared_ptr<const state::NftChange> change = std::make_shared<state::NftChange>();
  bool operator==(const ChangeNft& other) const { return *change == *other.change; }
};

using Op = std::variant<AddRule, RemoveRule, RemoveOpaqueRule,                                 //
                        Add<state::Route>, Replace<state::Route>, Remove<state::Route>,        //
                        Remove<state::OpaqueRoute>,                                            //
                        Add<state::Nexthop>, Replace<state::Nexthop>, Remove<state::Nexthop>,  //
                        Add<state::InterfaceAddress>, Remove<state::InterfaceAddress>,         //
                        Add<state::Link>, Set, Remove<state::ObservedLink>, ChangeNft>;

// Ours and a foreign rule are about the same packets at the same priority. The foreign one stays, ours is placed beside
// it, and the older of the two decides: somebody has to choose another priority.
struct Clash {
  state::Rule desired{};
  state::Rule foreign{};
  bool operator==(const Clash&) const = default;
};

// A desired object that cannot be: it is left out and delays nobody.
struct Refusal {
  state::Rule desired{};
  base::Error reason;
};

// A desired object of another kind that cannot be: wrong in itself, or something foreign has its place.
struct Obstacle {
  std::string desired{};  // "IPv4 route default dev eth0 table 7 proto 183"
  std::string reason{};
  auto operator<=>(const Obstacle&) const = default;
};

// What to do, in this order. Every prefix of it keeps each lookup on which the states before and after agree.
struct Plan {
  std::vector<Op> ops{};
  std::vector<Clash> clashes{};
  std::vector<Refusal> refused{};
  std::vector<Obstacle> obstacles{};

  bool empty() const { return ops.empty(); }
};

// "add IPv4 rule 500: from 10.0.0.7 lookup 100 proto 183"; of a change to the nft table one line per object.
std::string text(const Op& op);
// One line per operation, clash and refusal.
std::string text(const Plan& plan);

}  // namespace plan
