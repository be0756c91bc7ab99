#include "kernel/apply.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <span>
#include <string>

#include <fmt/format.h>

#include "kernel/rtnl/address.h"
#include "kernel/rtnl/link.h"
#include "kernel/rtnl/nexthop.h"
#include "kernel/rtnl/route.h"
#include "kernel/rtnl/rule.h"

namespace kernel {
namespace {

// Messages in memory at once; the plan may be much longer.
constexpr std::size_t kSlice = 1024;

struct Encode {
  const plan::Ownership& ownership;
  const rtnl::LinkTable& links;

  base::Result<Message> operator()(const plan::AddRule& op) const {
    TRY(own(op.rule));
    return rtnl::encode_add(op.rule, op.exclusive);
  }
  base::Result<Message> operator()(const plan::RemoveRule& op) const {
    TRY(own(op.rule));
    return op.rule.protocol == 0 ? rtnl::encode_remove_unsigned(op.rule) : rtnl::encode_remove(op.rule);
  }
  base::Result<Message> operator()(const plan::RemoveOpaqueRule& op) const {
    TRY(own(op.rule));
    return rtnl::encode_remove(op.rule);
  }
  template <typename Object>
  base::Result<Message> operator()(const plan::Add<Object>& op) const {
    TRY(own(op.object));
    return rtnl::encode_add(op.object, links);
  }
  template <typename Object>
  base::Result<Message> operator()(const plan::Replace<Object>& op) const {
    TRY(own(op.to));
    return rtnl::encode_replace(op.to, links);
  }
  base::Result<Message> operator()(const plan::Remove<state::Route>& op) const {
    TRY(own(op.object));
    return rtnl::encode_remove(op.object, links);
  }
  base::Result<Message> operator()(const plan::Remove<state::OpaqueRoute>& op) const {
    TRY(own(op.object));
    return rtnl::encode_remove(op.object);
  }
  base::Result<Message> operator()(const plan::Remove<state::Nexthop>& op) const {
    TRY(own(op.object));
    return rtnl::encode_remove(op.object);
  }
  base::Result<Message> operator()(const plan::Remove<state::InterfaceAddress>& op) const {
    TRY(own(op.object));
    return rtnl::encode_remove(op.object, links);
  }
  base::Result<Message> operator()(const plan::Add<state::Link>&) const {
    return base::fail(base::Fault::bug, "a link is not made by one message");
  }
  base::Result<Message> operator()(const plan::Set& op) const {
    TRY(own(op.own));
    return rtnl::encode_set(op.own, op.to, links);
  }
  base::Result<Message> operator()(const plan::Remove<state::ObservedLink>& op) const {
    TRY(own(op.object));
    return rtnl::encode_remove(op.object);
  }
  base::Result<Message> operator()(const plan::ChangeNft&) const {
    return base::fail(base::Fault::bug, "the nft table is not changed by messages of rtnetlink");
  }

  base::Status own(const auto& object) const {
    if (ownership.owns(object)) return {};
    return base::fail(base::Fault::bug, "refused to change what is not ours");
  }
};

struct IsRemoval {
  bool operator()(const plan::RemoveRule&) const { return true; }
  bool operator()(const plan::RemoveOpaqueRule&) const { return true; }
  template <typename Object>
  bool operator()(const plan::Remove<Object>&) const {
    return true;
  }
  bool operator()(const auto&) const { return false; }
};

// Somebody was faster: the same is there already, or gone already. Each kind has its own word for "not there"; a link
// that went took along what was on it.
bool is_harmless(const plan::Op& op, const base::Error& error) {
  constexpr std::array kGone = {ENOENT, ESRCH, EADDRNOTAVAIL, ENODEV};
  if (!std::visit(IsRemoval(), op)) return error.errno_value() == EEXIST;
  return std::ranges::find(kGone, error.errno_value()) != kGone.end() || error.fault() == base::Fault::absent;
}

// A link, an address or the way to a gateway is missing, and may come.
bool is_pending(const plan::Op& op, const base::Error& error) {
  constexpr std::array kNotYet = {ENETUNREACH, EHOSTUNREACH, ENETDOWN, ENODEV};
  // The MTU of a VLAN is at most its parent's: vlan_dev_change_mtu().
  const bool is_of_link = std::holds_alternative<plan::Set>(op) || std::holds_alternative<plan::Add<state::Link>>(op);
  if (is_of_link && error.errno_value() == ERANGE) return true;
  return std::ranges::find(kNotYet, error.errno_value()) != kNotYet.end() || error.fault() == base::Fault::absent;
}

OpResult judge(const plan::Op& op, base::Status status) {
  if (status) return {};
  const Effect effect = is_harmless(op, status.error())  ? Effect::harmless
                        : is_pending(op, status.error()) ? Effect::pending
                                                         : Effect::failed;
  return {.effect = effect, .status = base::within(text(op), std::move(status))};
}

// Whether others have to wait because of it. That something is there already (EEXIST) does not say whose it is, so what
// stands on it waits for the read-back. A rule that was refused is its own affair, and its predecessor goes.
bool is_undone(const plan::Op& op, Effect effect) {
  if (std::holds_alternative<plan::AddRule>(op)) return effect == Effect::pending;
  if (std::visit(IsRemoval(), op)) return effect == Effect::failed || effect == Effect::pending;
  return effect != Effect::done;
}

// None of the operations stands on another of them.
void apply_slice(Socket& socket, std::span<const plan::Op> ops, const Encode& encode, plan::Undone& undone,
                 std::stop_token stop, std::vector<OpResult>& results) {
  std::vector<Message> messages;
  std::vector<std::size_t> sent;  // Which operation each message is for.
  const std::size_t first = results.size();
  results.resize(first + ops.size());
  messages.reserve(ops.size());
  const auto settle = [&](std::size_t i, OpResult result) {
    if (is_undone(ops[i], result.effect)) undone.note(ops[i]);
    results[first + i] = std::move(result);
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (const std::string cause = undone.obstacle_to(ops[i]); !cause.empty()) {
      settle(i, waiting(ops[i], cause));
      continue;
    }
    auto message = std::visit(encode, ops[i]);
    if (message) {
      messages.push_back(*std::move(message));
      sent.push_back(i);
    } else {
      settle(i, judge(ops[i], std::unexpected(std::move(message).error())));
    }
  }
  auto statuses = socket.transact_all(messages, stop);
  for (std::size_t i = 0; i < sent.size(); ++i) settle(sent[i], judge(ops[sent[i]], std::move(statuses[i])));
}

// Operations of one layer do not stand on each other, so they may be under way together.
struct Layer {
  int operator()(const plan::AddRule&) const { return kRules; }
  int operator()(const plan::RemoveRule&) const { return kRules; }
  int operator()(const plan::RemoveOpaqueRule&) const { return kRules; }
  int operator()(const plan::Add<state::Nexthop>& op) const { return nexthop(op.object); }
  int operator()(const plan::Replace<state::Nexthop>& op) const { return nexthop(op.to); }
  int operator()(const plan::Remove<state::Nexthop>& op) const { return nexthop(op.object); }
  int operator()(const plan::Add<state::InterfaceAddress>&) const { return kAddresses; }
  int operator()(const plan::Remove<state::InterfaceAddress>&) const { return kAddresses; }
  int operator()(const plan::Set&) const { return kLinks; }
  int operator()(const plan::Remove<state::ObservedLink>&) const { return kLinks; }
  int operator()(const plan::Add<state::Link>&) const { return kOneByOne; }
  int operator()(const plan::ChangeNft&) const { return kOneByOne; }
  template <typename Op>
  int operator()(const Op&) const {
    return kRoutes;
  }
  static int nexthop(const state::Nexthop& nexthop) { return nexthop.group.empty() ? kNexthops : kGroups; }

  enum { kOneByOne, kLinks, kAddresses, kNexthops, kGroups, kRoutes, kRules };
};

std::size_t length_of_layer(std::span<const plan::Op> ops) {
  const int layer = std::visit(Layer(), ops.front());
  const auto end = std::ranges::find_if(ops, [&](const plan::Op& op) { return std::visit(Layer(), op) != layer; });
  return static_cast<std::size_t>(end - ops.begin());
}

bool is_rule(const plan::Op& op) {
  return std::holds_alternative<plan::AddRule>(op) || std::holds_alternative<plan::RemoveRule>(op) ||
         std::holds_alternative<plan::RemoveOpaqueRule>(op);
}

// Operations name devices, messages their indices: those of the moment, and again after a link was made.
base::Result<rtnl::LinkTable> links_for(Socket& socket, std::span<const plan::Op> ops) {
  if (std::ranges::all_of(ops, is_rule)) return rtnl::LinkTable();
  return rtnl::read_link_table(socket);
}

base::Status make_link(Socket& socket, const plan::Add<state::Link>& op, const plan::Ownership& ownership,
                       std::stop_token stop) {
  if (stop.stop_requested()) return base::fail(base::Fault::cancelled, "stopped before this request");
  if (!ownership.owns(op.object)) return base::fail(base::Fault::bug, "refused to change what is not ours");
  return rtnl::add_link(socket, op.object, TRY(rtnl::read_link_table(socket)));
}

base::Result<std::vector<Message>> encode_op(const plan::Op& op, const Encode& encode) {
  if (const auto* const link = std::get_if<plan::Add<state::Link>>(&op)) {
    TRY(encode.own(link->object));
    return rtnl::encode_add(link->object, encode.links);
  }
  std::vector<Message> out;
  out.push_back(TRY(std::visit(encode, op)));
  return out;
}

}  // namespace

base::Result<std::vector<Message>> encode(Socket& socket, const plan::Plan& plan, const plan::Ownership& ownership) {
  const rtnl::LinkTable links = TRY(links_for(socket, plan.ops));
  std::vector<Message> out;
  for (const plan::Op& op : plan.ops) {
    if (std::holds_alternative<plan::ChangeNft>(op)) continue;
    auto messages = encode_op(op, {.ownership = ownership, .links = links});
    if (!messages && messages.error().fault() == base::Fault::absent) continue;
    if (!messages) return std::unexpected(std::move(messages).error());
    std::ranges::move(*messages, std::back_inserter(out));
  }
  return out;
}

std::size_t Outcome::count(Effect effect) const {
  return static_cast<std::size_t>(std::ranges::count(results, effect, &OpResult::effect));
}

OpResult waiting(const plan::Op& op, std::string_view cause) {
  return {.effect = Effect::pending,
          .status = base::fail(base::Fault::unavailable, fmt::format("{}: waits for {}", plan::text(op), cause))};
}

Outcome apply(Socket& socket, std::span<const plan::Op> ops, const plan::Ownership& ownership, plan::Undone& undone,
              std::stop_token stop) {
  Outcome out;
  out.results.reserve(ops.size());
  std::span<const plan::Op> rest = ops;
  while (!rest.empty()) {
    if (const auto* const link = std::get_if<plan::Add<state::Link>>(&rest.front())) {
      out.results.push_back(judge(rest.front(), make_link(socket, *link, ownership, stop)));
      rest = rest.subspan(1);
      continue;
    }
    const auto slice = rest.first(std::min(length_of_layer(rest), kSlice));
    const auto links = links_for(socket, slice);
    if (links) {
      apply_slice(socket, slice, {.ownership = ownership, .links = *links}, undone, stop, out.results);
    } else {
      for (const plan::Op& op : slice) {
        out.results.push_back(judge(op, std::unexpected(links.error())));
        if (is_undone(op, out.results.back().effect)) undone.note(op);
      }
    }
    rest = rest.subspan(slice.size());
  }
  return out;
}

}  // namespace kernel
