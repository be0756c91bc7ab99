#include "cli/ip_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "json/reader.h"

namespace cli {
namespace {

// Keys of iproute2's print_rule() whose value is the value of our word of the same meaning.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWords = {{
    {"tos", "tos"},
    {"iif", "iif"},
    {"oif", "oif"},
    {"ipproto", "ipproto"},
    {"sport", "sport"},
    {"dport", "dport"},
    {"table", "lookup"},
    {"suppress_prefixlen", "suppress_prefixlength"},
    {"suppress_ifgroup", "suppress_ifgroup"},
    {"goto", "goto"},
    {"protocol", "proto"},
    {"priority", "priority"},
}};

// Parts of a word that is written as a whole: by the first of them, or not at all.
constexpr std::array<std::string_view, 7> kFollowers = {"srclen",    "dstlen",  "fwmask",      "sport_end",
                                                        "dport_end", "uid_end", "iif_detached"};

std::string plain(const json::Value& value) {
  const auto text = value.string();
  return text ? std::string(*text) : value.text();
}

std::string with(const json::Value& rule, std::string_view first, std::string_view second, char between) {
  const json::Value last = rule[second];
  return last.exists() ? fmt::format("{}{}{}", plain(rule[first]), between, plain(last)) : plain(rule[first]);
}

// The rule in the words of `ip rule add`; an error names the key that has none.
base::Result<std::string> words_of(const json::Value& rule) {
  std::string out;
  const auto add = [&](std::string_view word, const std::string& value) { out += fmt::format(" {} {}", word, value); };
  // iproute2 writes words that stand alone as keys with null, which count as absent elsewhere.
  const std::string whole = rule.text();
  if (whole.find("\"not\":null") != std::string::npos) out += " not";
  if (whole.find("\"nop\":null") != std::string::npos) out += " nop";
  if (whole.find("\"l3mdev\":null") != std::string::npos) out += " lookup [l3mdev-table]";
  const auto members = TRY(rule.members());
  for (const json::Member& member : members) {
    const auto* const known =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& entry) { return entry.first == member.key; });
    if (known != kWords.end()) {
      add(known->second, plain(member.value));
    } else if (member.key == "src") {
      add("from", with(rule, "src", "srclen", '/'));
    } else if (member.key == "dst") {
      add("to", with(rule, "dst", "dstlen", '/'));
    } else if (member.key == "fwmark") {
      add("fwmark", with(rule, "fwmark", "fwmask", '/'));
    } else if (member.key == "uid_start") {
      add("uidrange", with(rule, "uid_start", "uid_end", '-'));
    } else if (member.key == "sport_start") {
      add("sport", with(rule, "sport_start", "sport_end", '-'));
    } else if (member.key == "dport_start") {
      add("dport", with(rule, "dport_start", "dport_end", '-'));
    } else if (member.key == "action") {
      out += " " + plain(member.value);
    } else if (std::ranges::find(kFollowers, member.key) == kFollowers.end()) {
      return base::fail(base::Fault::invalid, fmt::format("{} {}", member.key, plain(member.value)));
    }
  }
  return out;
}

net::Family family_of(const json::Value& rule, net::Family otherwise) {
  for (const std::string_view key : {"src", "dst"}) {
    const auto text = rule[key].string();
    const auto address = text ? net::Address::parse(*text) : base::fail(base::Fault::absent, "");
    if (address) return address->family();
  }
  return otherwise;
}

}  // namespace

base::Result<DumpedRules> parse_ip_rules(net::Family family, std::string_view json) {
  json::Reader reader;
  const auto root = TRY(reader.parse(json));
  DumpedRules out;
  const auto items = TRY(root.items());
  for (const json::Value& item : items) {
    const auto words = words_of(item);
    const auto rule = words ? state::parse_rule(family_of(item, family), *words) : std::unexpected(words.error());
    if (rule) {
      out.rules.push_back(*rule);
    } else {
      out.unread.push_back({.rule = fmt::format("rule {}", plain(item["priority"])), .reason = rule.error().message()});
    }
  }
  return out;
}

}  // namespace cli
