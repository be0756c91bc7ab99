#include "state/nexthop.h"

#include <algorithm>

#include <fmt/format.h>

#include "state/words.h"

namespace state {
namespace {

using words::refuse;

constexpr std::uint16_t kMaxMemberWeight = 255;  // What kernels before 6.12 take.

base::Status check_group(const Nexthop& nexthop) {
  if (nexthop.blackhole || nexthop.via || nexthop.onlink || !nexthop.dev.empty()) {
    return refuse("group", "has no way out of its own");
  }
  for (std::size_t i = 0; i < nexthop.group.size(); ++i) {
    const NexthopMember& member = nexthop.group[i];
    if (member.id == 0 || member.id == nexthop.id) {
      return refuse("group", fmt::format("{} cannot be a member", member.id));
    }
    if (member.weight == 0 || member.weight > kMaxMemberWeight) {
      return refuse("group", fmt::format("weight {} is not from 1 to {}", member.weight, kMaxMemberWeight));
    }
    if (i > 0 && nexthop.group[i - 1].id == member.id) return refuse("group", "twice the same: use its weight");
  }
  if (nexthop.resilience && nexthop.resilience->buckets < nexthop.group.size()) {
    return refuse("buckets", "fewer than members");
  }
  return {};
}

base::Status check_way(const Nexthop& nexthop) {
  if (nexthop.resilience) return refuse("type", "resilient is only for a group");
  if (nexthop.blackhole) {
    return nexthop.via || nexthop.onlink || !nexthop.dev.empty() ? refuse("dev", "a blackhole goes nowhere")
                                                                 : base::Status{};
  }
  if (nexthop.dev.empty()) return refuse("dev", "missing");
  if (nexthop.via && nexthop.via->family() != nexthop.family) {
    return refuse("via", fmt::format("{} is not {}", nexthop.via->text(), net::text(nexthop.family)));
  }
  if (nexthop.via && nexthop.via->is_unspecified()) return refuse("via", "is no gateway");
  if (nexthop.onlink && !nexthop.via) return refuse("onlink", "only with a gateway");
  return {};
}

// "5/7,2": members with their weights, where those are not 1.
std::string group_text(const std::vector<NexthopMember>& group) {
  std::string out;
  for (const NexthopMember& member : group) {
    if (!out.empty()) out += '/';
    out += fmt::to_string(member.id);
    if (member.weight != 1) out += fmt::format(",{}", member.weight);
  }
  return out;
}

base::Result<std::vector<NexthopMember>> parse_group(std::string_view text) {
  std::vector<NexthopMember> out;
  while (true) {
    const std::string_view part = text.substr(0, text.find('/'));
    const auto comma = part.find(',');
    NexthopMember member{.id = TRY(words::number<std::uint32_t>("group", part.substr(0, comma)))};
    if (comma != part.npos) member.weight = TRY(words::number<std::uint16_t>("group", part.substr(comma + 1)));
    out.push_back(member);
    if (part.size() == text.size()) return out;
    text.remove_prefix(part.size() + 1);
  }
}

Resilience& resilience_of(Nexthop& nexthop) {
  if (!nexthop.resilience) nexthop.resilience.emplace();
  return *nexthop.resilience;
}

base::Status set_field(Nexthop& nexthop, std::string_view word, std::string_view value) {
  if (word == "id") {
    nexthop.id = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "via") {
    nexthop.via = TRY(words::address(word, value));
  } else if (word == "dev") {
    nexthop.dev = TRY(words::interface(word, value));
  } else if (word == "group") {
    nexthop.group = TRY(parse_group(value));
  } else if (word == "proto" || word == "protocol") {
    nexthop.protocol = TRY(words::number_or_name<std::uint8_t>("protocol", value, words::kProtocols));
  } else if (word == "type") {
    if (value != "resilient") return words::not_understood(word, value);
    resilience_of(nexthop);
  } else if (word == "buckets") {
    resilience_of(nexthop).buckets = TRY(words::number<std::uint16_t>(word, value));
  } else if (word == "idle_timer") {
    resilience_of(nexthop).idle_timer = TRY(words::number<std::uint32_t>(word, value));
  } else if (word == "unbalanced_timer") {
    resilience_of(nexthop).unbalanced_timer = TRY(words::number<std::uint32_t>(word, value));
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no word of a nexthop", word));
  }
  return {};
}

}  // namespace

Nexthop canonical(Nexthop nexthop) {
  std::ranges::sort(nexthop.group);
  if (!nexthop.group.empty()) nexthop.family = net::Family::v4;
  return nexthop;
}

base::Status validate(const Nexthop& nexthop) {
  if (nexthop.id == 0) return refuse("id", "0 lets the kernel choose one");
  if (nexthop.protocol == 0) return refuse("protocol", "0 says nobody made the nexthop");
  return nexthop.group.empty() ? check_way(nexthop) : check_group(nexthop);
}

std::string text(const Nexthop& nexthop) {
  std::string out = fmt::format("id {}", nexthop.id);
  const auto into = std::back_inserter(out);
  if (!nexthop.group.empty()) fmt::format_to(into, " group {}", group_text(nexthop.group));
  if (nexthop.resilience) {
    fmt::format_to(into, " type resilient buckets {} idle_timer {} unbalanced_timer {}", nexthop.resilience->buckets,
                   nexthop.resilience->idle_timer, nexthop.resilience->unbalanced_timer);
  }
  if (nexthop.blackhole) out += " blackhole";
  if (nexthop.via) fmt::format_to(into, " via {}", nexthop.via->text());
  if (!nexthop.dev.empty()) fmt::format_to(into, " dev {}", nexthop.dev.text());
  if (nexthop.protocol != 0) fmt::format_to(into, " proto {}", words::named(words::kProtocols, nexthop.protocol));
  if (nexthop.onlink) out += " onlink";
  return out;
}

base::Result<Nexthop> parse_nexthop(net::Family family, std::string_view text) {
  Nexthop nexthop{.family = family};
  std::string_view rest = text;
  for (std::string_view word = words::next(rest); !word.empty(); word = words::next(rest)) {
    if (word == "blackhole") {
      nexthop.blackhole = true;
    } else if (word == "onlink") {
      nexthop.onlink = true;
    } else {
      const std::string_view value = TRY(words::value_of(word, rest));
      TRY(set_field(nexthop, word, value));
    }
  }
  return canonical(std::move(nexthop));
}

std::string text(const OpaqueNexthop& nexthop) {
  return fmt::format("id {} ({}) proto {}", nexthop.id, nexthop.reason,
                     words::named(words::kProtocols, nexthop.protocol));
}

}  // namespace state
