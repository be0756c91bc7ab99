#include "dataplane/compile.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dataplane/allotment.h"
#include "dataplane/backend.h"
#include "dataplane/recognition.h"
#include "dataplane/rule_limit.h"
#include "dataplane/wishes.h"

namespace dataplane {
namespace {

// This many `from` rules cost a node a good part of its forwarding rate.
constexpr std::size_t kManySources = 1000;
// More than this no node is asked to walk.
constexpr std::size_t kMostRules = 20000;
constexpr int kStrict = 1;  // Of rp_filter.

class Compiler {
 public:
  explicit Compiler(const Steering& in) : in_(in) {
    for (const Uplink& uplink : in.facts.uplinks) {
      if (uplink.rp_filter == kStrict) strict_[uplink.table].insert(uplink.device);
    }
  }

  Compiled run() {
    accept();
    recall();
    choose();
    allot_replies();
    allot_sources();
    limit_rules();
    report_strict();
    emit_rules();
    emit_table();
    out_.held = allotment_.taken();
    return std::move(out_);
  }

 private:
  void accept() {
    auto sources = gather_sources(in_.sources, in_.facts.protected_sources);
    auto replies = gather_replies(in_.replies);
    sources_ = std::move(sources.classes);
    replies_ = std::move(replies.classes);
    for (const auto& [key, members] : sources_) out_.by_rules += members.size();
    refuse(kProtectedSource, std::move(sources.refused),
           "ProtectedSource: an address of the node itself would take kubelet and API traffic along; use mode Reply");
    refuse(kPriorityTooLow, std::move(replies.refused),
           "a Reply that prefers main needs a priority of 2 or more: the rule for main stands one before it");
  }

  void recall() {
    marks_ = recognise(in_.marks, sources_, replies_, in_.numbers.window, in_.numbers.protocol);
    allotment_ = Allotment(marks_, in_.numbers.window);
  }

  void choose() {
    const Choice choice = choose_backend(in_.mode, in_.present, out_.by_rules, in_.now);
    out_.decision = choice.decision;
    out_.look_again = choice.look_again;
    if (in_.mode != Mode::rules || out_.by_rules <= kManySources) return;
    out_.findings.push_back(
        {.code = kManyRules,
         .message =
             fmt::format("{} sources as rules: the kernel walks them one by one for every packet", out_.by_rules)});
  }

  void allot_replies() {
    if (!in_.facts.nftables) return refuse_replies();
    Addresses refused;
    std::erase_if(replies_, [&](const auto& entry) {
      if (allotment_.take({entry.first})) return false;
      ++starved_;
      std::ranges::copy(entry.second, std::back_inserter(refused));
      return true;
    });
    refuse(kNoFreeMark, std::move(refused), no_mark("not steered"));
  }

  void refuse_replies() {
    Addresses all;
    for (const auto& [key, vips] : replies_) std::ranges::copy(vips, std::back_inserter(all));
    replies_.clear();
    refuse(kNoNftables, std::move(all), "the kernel has no nftables, without which a reply cannot be told from others");
  }

  void allot_sources() {
    if (out_.decision.backend != Backend::marks || !in_.facts.nftables) return;
    Addresses left;
    auto candidates = marked_candidates();
    // A reply has no other way than a mark, a source has: the last classes make room, and what they held is free when
    // it is gone from the kernel.
    const std::size_t kept = candidates.size() - std::min(candidates.size(), starved_);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      auto& [key, members] = candidates[i];
      if (i < kept && allotment_.take(with_joins(key, members))) {
        move_to_marks(key, std::move(members));
      } else {
        std::ranges::copy(members, std::back_inserter(left));
      }
    }
    report(kNoFreeMark, std::move(left), no_mark("steered by rules instead"));
  }

  void limit_rules() {
    Addresses out = remove_youngest(sources_, in_.sources, kMostRules);
    out_.by_rules -= out.size();
    refuse(kTooManyRules, std::move(out),
           fmt::format("{} rules are the most a node is given; use the dataplane marks", kMostRules));
  }

  // Those that have a mark first, so that they keep it; then the largest.
  std::vector<std::pair<ClassKey, Addresses>> marked_candidates() const {
    std::vector<std::pair<ClassKey, Addresses>> out;
    for (const auto& [key, members] : sources_) {
      Addresses fit;
      std::ranges::copy_if(members, std::back_inserter(fit),
                           [&](const net::Address& address) { return may_be_marked(address, key.path); });
      if (!fit.empty()) out.emplace_back(key, std::move(fit));
    }
    const auto rank = [&](const auto& candidate) {
      return std::pair(!marks_.held.contains(candidate.first), -static_cast<std::ptrdiff_t>(candidate.second.size()));
    };
    std::ranges::sort(out, [&](const auto& one, const auto& other) {
      const auto order = rank(one) <=> rank(other);
      return order != 0 ? order < 0 : one.first < other.first;
    });
    return out;
  }

  // Sources are marked as they come in to be forwarded: what the node itself sends from a bound address would be
  // missed. And the reverse path of a packet is looked up without its mark.
  bool may_be_marked(const net::Address& address, const Path& path) const {
    if (in_.facts.local.contains(address)) return false;
    return in_.mode == Mode::marks || strict_devices(address, path).empty();
  }

  std::set<net::InterfaceName> strict_devices(const net::Address& address, const Path& path) const {
    std::set<net::InterfaceName> out;
    if (address.family() != net::Family::v4) return out;  // There is no rp_filter for IPv6.
    for (const Lookup& lookup : path) {
      if (const auto found = strict_.find(lookup.table); found != strict_.end()) {
        out.insert(found->second.begin(), found->second.end());
      }
    }
    return out;
  }

  // The class itself and the class for both of each reply that a packet of it may be.
  std::set<ClassKey> with_joins(const ClassKey& source, const Addresses& members) const {
    std::set<ClassKey> out = {source};
    for (const auto& [reply, vips] : replies_) {
      if (!shared_families(members, vips).empty()) out.insert(join(source, reply));
    }
    return out;
  }

  void move_to_marks(const ClassKey& key, Addresses members) {
    Addresses rest;
    std::ranges::set_difference(sources_[key], members, std::back_inserter(rest));
    sources_[key] = std::move(rest);
    out_.by_marks += members.size();
    out_.by_rules -= members.size();
    marked_.emplace(key, std::move(members));
  }

  void report_strict() {
    std::map<net::InterfaceName, Addresses> by_device;
    for (const Classes* classes : {&marked_, &replies_}) {
      for (const auto& [key, members] : *classes) {
        for (const net::Address& address : members) {
          for (const auto& device : strict_devices(address, key.path)) by_device[device].push_back(address);
        }
      }
    }
    for (auto& [device, addresses] : by_device) {
      report(kStrictReversePath, std::move(addresses),
             fmt::format("device {}: rp_filter is strict and drops packets whose replies are steered by mark; {}",
                         device.text(), loose_filter_command(device.text())));
    }
  }

  void emit_rules() {
    // By place, and at one place in the order in which they come.
    std::map<std::tuple<net::Family, std::uint32_t, std::optional<net::Prefix>>, std::vector<state::Rule>> walk;
    const auto emit = [&](const state::Rule& rule) {
      walk[{rule.family, rule.priority, rule.selector.from}].push_back(rule);  // No source is before any source.
    };
    for (const auto& [key, used] : used_families()) {
      const state::Mark mark{.value = allotment_.mark_of(key), .mask = in_.numbers.window};
      for (const net::Family family : used) {
        std::ranges::for_each(class_rules(key, mark, family, in_.numbers.protocol), emit);
      }
    }
    for (const auto& [key, members] : sources_) {
      for (const net::Address& address : members) {
        for (const Lookup& lookup : key.path) emit(from_rule(address, lookup));
      }
    }
    for (const auto& [place, rules] : walk) std::ranges::copy(rules, std::back_inserter(out_.rules));
  }

  std::map<ClassKey, std::set<net::Family>> used_families() const {
    std::map<ClassKey, std::set<net::Family>> out;
    for (const auto& [key, vips] : replies_) out[key] = families(vips);
    for (const auto& [key, members] : marked_) {
      out[key] = families(members);
      for (const auto& [reply, vips] : replies_) {
        const auto shared = shared_families(members, vips);
        if (!shared.empty()) out[join(key, reply)].insert(shared.begin(), shared.end());
      }
    }
    return out;
  }

  state::Rule from_rule(const net::Address& address, const Lookup& lookup) const {
    return {.family = address.family(),
            .priority = lookup.priority,
            .selector = {.from = net::Prefix::host(address)},
            .protocol = in_.numbers.protocol,
            .table = lookup.table};
  }

  void emit_table() {
    if (replies_.empty() && marked_.empty()) return;
    state::NftTable table{.window = in_.numbers.window};
    for (const auto& [key, mark] : allotment_.taken()) table.classes[mark].kind = key.kind;
    for (const auto& [key, vips] : replies_) {
      for (const net::Address& vip : vips) table.vips.emplace(vip, allotment_.mark_of(key));
    }
    for (const auto& [key, members] : marked_) {
      const std::uint32_t mark = allotment_.mark_of(key);
      for (const net::Address& address : members) table.sources.emplace(address, mark);
      for (const auto& [reply, vips] : replies_) {
        if (shared_families(members, vips).empty()) continue;
        table.classes[mark].joins.emplace(allotment_.mark_of(reply), allotment_.mark_of(join(key, reply)));
      }
    }
    if (!replies_.empty()) table.own = state::without_overlaps(in_.facts.cluster_prefixes);
    out_.table = std::move(table);
  }

  std::string no_mark(std::string_view consequence) const {
    return fmt::format("the {} marks of window {:#x} are taken: {}", state::window_size(in_.numbers.window),
                       in_.numbers.window, consequence);
  }

  void refuse(std::string_view code, Addresses subjects, std::string message) {
    if (subjects.empty()) return;
    report(code, std::move(subjects), std::move(message));
    out_.findings.back().refused = true;
  }

  // Says nothing about nobody.
  void report(std::string_view code, Addresses subjects, std::string message) {
    if (subjects.empty()) return;
    std::ranges::sort(subjects);
    out_.findings.push_back({.code = code, .subjects = std::move(subjects), .message = std::move(message)});
  }

  const Steering& in_;
  Marks marks_;
  Allotment allotment_;
  std::map<std::uint32_t, std::set<net::InterfaceName>> strict_;  // By table.
  Classes sources_;  // In the end those steered by rules, where a class may have no member left.
  Classes marked_;
  Classes replies_;
  std::size_t starved_ = 0;  // Reply classes without a mark.
  Compiled out_;
};

}  // namespace

std::string loose_filter_command(std::string_view device) {
  std::string name(device);
  std::ranges::replace(name, '.', '/');  // As sysctl spells names with dots.
  return fmt::format("sysctl -w net.ipv4.conf.{}.rp_filter=2", name);
}

Compiled compile(const Steering& steering) {
  return Compiler(steering).run();
}

}  // namespace dataplane
