#include "cli/nft_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "json/reader.h"

namespace cli {
namespace {

// Chains of ours that are no class's, with the rules that each has.
constexpr std::array<std::pair<std::string_view, std::size_t>, 3> kFixed = {{{"reply", 4}, {"pre", 3}, {"out", 1}}};

bool is_ours(std::string_view kind, const json::Value& object) {
  return object["family"].string_or("") == "inet" &&
         object[kind == "table" ? "name" : "table"].string_or("") == state::kNftTableName;
}

// meta mark set meta mark & ~window | mark, of which nft leaves the bits of the mark in the first half, too.
struct Setting {
  std::uint32_t window = 0;
  std::uint32_t mark = 0;
};

base::Result<Setting> setting_of(const json::Value& mangle) {
  const auto both = TRY(mangle["value"]["|"].items());
  if (both.size() != 2) return mangle.fail("is not `mark & bits | bits`");
  const auto kept = TRY(both[0]["&"].items());
  if (kept.size() != 2) return mangle.fail("is not `mark & bits | bits`");
  const auto mask = TRY(kept[1].integer<std::uint32_t>());
  const auto mark = TRY(both[1].integer<std::uint32_t>());
  return Setting{.window = ~mask | mark, .mark = mark};
}

// meta mark & window == reply goto both
struct Join {
  std::uint32_t window = 0;
  std::uint32_t reply = 0;
  std::string both;
};

base::Result<Join> join_of(const json::Value& match, const json::Value& verdict) {
  const auto looked_at = TRY(match["left"]["&"].items());
  if (looked_at.size() != 2 || match["op"].string_or("") != "==") return match.fail("is not `mark & bits == bits`");
  return Join{.window = TRY(looked_at[1].integer<std::uint32_t>()),
              .reply = TRY(match["right"].integer<std::uint32_t>()),
              .both = std::string(TRY(verdict["goto"]["target"].string()))};
}

class TableReader {
 public:
  base::Result<DumpedTable> read(const json::Value& dump) {
    const auto objects = TRY(dump["nftables"].items());
    for (const json::Value& object : objects) {
      for (const auto& [kind, value] : TRY(object.members())) {
        if (!is_ours(kind, value)) continue;
        if (kind == "table") is_there_ = true;
        if (kind == "rule") TRY(take_rule(value));
        if (kind == "chain") rules_.try_emplace(std::string(TRY(value["name"].string())));
        if (kind == "map") TRY(take_map(value));
        if (kind == "set") TRY(take_set(value));
      }
    }
    if (!is_there_) return DumpedTable();
    return finish();
  }

 private:
  struct Rules {
    std::size_t count = 0;
    std::optional<Setting> setting;
    std::vector<Join> joins;
  };

  base::Status take_rule(const json::Value& rule) {
    const auto chain = std::string(TRY(rule["chain"].string()));
    Rules& rules = rules_[chain];
    ++rules.count;
    const auto is_fixed = [&](const auto& one) { return one.first == chain; };
    if (std::ranges::any_of(kFixed, is_fixed)) return {};
    const auto parts = TRY(rule["expr"].items());
    const auto setting = parts.size() == 1 ? setting_of(parts[0]["mangle"]) : rule.fail("");
    const auto join = parts.size() == 2 ? join_of(parts[0]["match"], parts[1]) : rule.fail("");
    if (setting) {
      rules.setting = *setting;
    } else if (join) {
      rules.joins.push_back(*join);
    } else {
      strange_.push_back(fmt::format("a rule in chain {}: {}", chain, rule["expr"].text()));
    }
    return {};
  }

  base::Status take_map(const json::Value& map) {
    const auto name = TRY(map["name"].string());
    auto& into = name.starts_with("src") ? sources_ : vips_;
    for (const json::Value& element : TRY(map["elem"].items_or_none())) {
      const auto pair = TRY(element.items());
      if (pair.size() != 2) return element.fail("is no address with a verdict");
      const auto address = TRY(pair[0].string());
      into.emplace(TRY(base::within(pair[0].path(), net::Address::parse(address))),
                   std::string(TRY(pair[1]["goto"]["target"].string())));
    }
    return {};
  }

  base::Status take_set(const json::Value& set) {
    for (const json::Value& element : TRY(set["elem"].items_or_none())) {
      const json::Value prefix = element["prefix"];
      const auto text = TRY((prefix.exists() ? prefix["addr"] : element).string());
      const auto address = TRY(base::within(element.path(), net::Address::parse(text)));
      const int length = prefix.exists() ? TRY(prefix["len"].integer<int>()) : address.bits();
      if (length < 0 || length > address.bits()) return prefix["len"].fail("is no prefix length");
      own_.insert({address, length});
    }
    return {};
  }

  DumpedTable finish() {
    state::NftTable table{.own = std::move(own_)};
    for (const auto& [chain, rules] : rules_) {
      if (rules.setting) table.window = rules.setting->window;
    }
    for (const auto& [chain, rules] : rules_) take_chain(table, chain, rules);
    for (const auto& [address, chain] : sources_) take_element(table.sources, table.window, address, chain);
    for (const auto& [address, chain] : vips_) take_element(table.vips, table.window, address, chain);
    return {.table = std::move(table), .strange = std::move(strange_)};
  }

  void take_chain(state::NftTable& table, const std::string& chain, const Rules& rules) {
    for (const auto& [name, count] : kFixed) {
      if (chain != name) continue;
      if (rules.count != count)
        strange_.push_back(fmt::format("chain {} has {} rules, not {}", chain, rules.count, count));
      return;
    }
    const auto known = state::parse_chain_name(chain, table.window);
    if (!known || !rules.setting || rules.setting->mark != known->second || rules.setting->window != table.window) {
      strange_.push_back(fmt::format("chain {}", chain));
      return;
    }
    state::NftClass& made = table.classes[known->second];
    made.kind = known->first;
    for (const Join& join : rules.joins) {
      const auto both = state::parse_chain_name(join.both, table.window);
      if (both && join.window == table.window) {
        made.joins[join.reply] = both->second;
      } else {
        strange_.push_back(fmt::format("chain {} goes to {}", chain, join.both));
      }
    }
  }

  void take_element(std::map<net::Address, std::uint32_t>& into, std::uint32_t window, const net::Address& address,
                    const std::string& chain) {
    if (const auto known = state::parse_chain_name(chain, window)) {
      into[address] = known->second;
    } else {
      strange_.push_back(fmt::format("element {} : goto {}", address.text(), chain));
    }
  }

  bool is_there_ = false;
  std::map<std::string, Rules> rules_;  // By chain.
  std::map<net::Address, std::string> sources_;
  std::map<net::Address, std::string> vips_;
  std::set<net::Prefix> own_;
  std::vector<std::string> strange_;
};

}  // namespace

base::Result<DumpedTable> parse_nft_table(std::string_view json) {
  json::Reader reader;
  const auto dump = TRY(reader.parse(json));
  return TableReader().read(dump);
}

}  // namespace cli
