#include "cli/nft_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "json/reader.h"
#include "kernel/nft/layout.h"

namespace cli {
namespace {

using state::NftClassKind;

// Chains of ours that are no class's, with how many rules each has and where the kernel calls it.
struct FixedChain {
  std::string_view name;
  std::size_t rules = 0;
  std::string_view type{};
  std::string_view hook{};
};
constexpr std::array kFixed = {FixedChain{"reply", 4}, FixedChain{"pre", 3, "filter", "prerouting"},
                               FixedChain{"out", 1, "route", "output"}};
constexpr int kManglePriority = -150;

const FixedChain* find_fixed(std::string_view name) {
  const auto known = std::ranges::find(kFixed, name, &FixedChain::name);
  return known == kFixed.end() ? nullptr : &*known;
}

bool is_in_its_place(const json::Value& chain, const FixedChain& made) {
  if (chain["type"].string_or("") != made.type || chain["hook"].string_or("") != made.hook) return false;
  if (made.hook.empty()) return true;
  return chain["prio"].integer_or(0) == kManglePriority && chain["policy"].string_or("accept") == "accept";
}

// What of a set or map is no name and no content: nothing may be added to it.
bool is_as_made(const json::Value& set, const kernel::nft::Set& made) {
  if (set["type"].string_or("") != (made.family == net::Family::v4 ? "ipv4_addr" : "ipv6_addr")) return false;
  if (set["map"].string_or("") != (made.is_map ? "verdict" : "")) return false;
  const std::string flags = set["flags"].text();  // Newer ones of nft print one alone without brackets.
  if (made.is_map ? flags != "null" : flags != R"(["interval"])" && flags != R"("interval")") return false;
  return std::ranges::none_of(std::array{"size", "timeout", "gc-interval", "policy", "stmt"},
                              [&](const char* key) { return set[key].exists(); });
}

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

// As kernel::find_service_proxy() looks for it.
std::optional<state::ServiceProxy> proxy_shown_by(std::string_view kind, const json::Value& object) {
  const auto family = object["family"].string_or("");
  const auto name = object["name"].string_or("");
  if (!family || !name || (*family != "ip" && *family != "ip6")) return std::nullopt;
  if (kind == "table" && *name == "kube-proxy") return state::ServiceProxy::nftables;
  const bool is_services = kind == "chain" && *name == "KUBE-SERVICES" && object["table"].string_or("") == "nat";
  return is_services ? std::optional(state::ServiceProxy::iptables) : std::nullopt;
}

class TableReader {
 public:
  base::Result<DumpedTable> read(const json::Value& dump) {
    const auto objects = TRY(dump["nftables"].items());
    for (const json::Value& object : objects) {
      for (const auto& [kind, value] : TRY(object.members())) {
        if (is_ours(kind, value)) TRY(take(kind, value));
        if (const auto proxy = proxy_shown_by(kind, value)) service_proxy_ = *proxy;
      }
    }
    DumpedTable out = is_there_ ? finish() : DumpedTable();
    out.service_proxy = service_proxy_;
    return out;
  }

 private:
  struct Rules {
    std::size_t count = 0;
    std::optional<Setting> setting;
    std::vector<Join> joins;
  };

  base::Status take(std::string_view kind, const json::Value& object) {
    if (kind == "rule") return take_rule(object);
    if (kind == "map" || kind == "set") return take_set(object);
    const auto name = std::string(TRY(object["name"].string()));
    if (kind == "table") {
      is_there_ = true;
      if (object["flags"].exists()) strange_.emplace_back("the table has flags");
    } else if (kind == "chain") {
      rules_.try_emplace(name);
      const FixedChain* const fixed = find_fixed(name);
      if (!is_in_its_place(object, fixed != nullptr ? *fixed : FixedChain{name})) {
        strange_.push_back(fmt::format("chain {} is at another place", name));
      }
    } else {
      strange_.push_back(fmt::format("{} {}", kind, name));
    }
    return {};
  }

  base::Status take_rule(const json::Value& rule) {
    const auto chain = std::string(TRY(rule["chain"].string()));
    Rules& rules = rules_[chain];
    ++rules.count;
    if (find_fixed(chain) != nullptr) return {};
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

  base::Status take_set(const json::Value& set) {
    const auto name = TRY(set["name"].string());
    const auto known = std::ranges::find(kernel::nft::kSets, name, &kernel::nft::Set::name);
    if (known == kernel::nft::kSets.end()) {
      strange_.push_back(fmt::format("set {}", name));
      return {};
    }
    sets_.insert(known->name);
    if (!is_as_made(set, *known)) {
      strange_.push_back(fmt::format("set {} is of another type", name));
      return {};
    }
    return known->is_map ? take_verdicts(set, name.starts_with("src") ? sources_ : vips_) : take_own(set);
  }

  static base::Status take_verdicts(const json::Value& map, std::map<net::Address, std::string>& into) {
    for (const json::Value& element : TRY(map["elem"].items_or_none())) {
      const auto pair = TRY(element.items());
      if (pair.size() != 2) return element.fail("is no address with a verdict");
      const auto address = TRY(pair[0].string());
      into.emplace(TRY(base::within(pair[0].path(), net::Address::parse(address))),
                   std::string(TRY(pair[1]["goto"]["target"].string())));
    }
    return {};
  }

  base::Status take_own(const json::Value& set) {
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
    name_missing();
    for (const auto& [chain, rules] : rules_) take_chain(table, chain, rules);
    take_elements(table.sources, table.window, sources_, NftClassKind::source);
    take_elements(table.vips, table.window, vips_, NftClassKind::reply);
    if (strange_.empty()) {
      if (const auto valid = state::validate(table); !valid) strange_.push_back(valid.error().message());
    }
    return {.table = std::move(table), .strange = std::move(strange_)};
  }

  void name_missing() {
    for (const kernel::nft::Set& set : kernel::nft::kSets) {
      if (!sets_.contains(set.name)) strange_.push_back(fmt::format("set {} is missing", set.name));
    }
    for (const FixedChain& chain : kFixed) {
      if (!rules_.contains(std::string(chain.name))) strange_.push_back(fmt::format("chain {} is missing", chain.name));
    }
  }

  void take_chain(state::NftTable& table, const std::string& chain, const Rules& rules) {
    if (const FixedChain* const fixed = find_fixed(chain)) {
      if (rules.count != fixed->rules)
        strange_.push_back(fmt::format("chain {} has {} rules, not {}", chain, rules.count, fixed->rules));
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

  void take_elements(std::map<net::Address, std::uint32_t>& into, std::uint32_t window,
                     const std::map<net::Address, std::string>& elements, NftClassKind kind) {
    for (const auto& [address, chain] : elements) {
      const auto known = state::parse_chain_name(chain, window);
      if (known && known->first == kind) {
        into[address] = known->second;
      } else {
        strange_.push_back(fmt::format("element {} : goto {}", address.text(), chain));
      }
    }
  }

  bool is_there_ = false;
  state::ServiceProxy service_proxy_ = state::ServiceProxy::unknown;
  std::set<std::string_view> sets_;     // Of kSets, those that were met.
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
