#include "kernel/nft/decode.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/reader.h"
#include "kernel/nft/layout.h"
#include "kernel/nft/statement.h"

namespace kernel::nft {
namespace {

using json::Member;
using json::Value;
using state::NftClassKind;

// A chain with its rules, before its name is understood.
struct Chain {
  std::vector<Statements> rules;
};

// Whether the object has no other key than these: another one may change what it means.
base::Result<bool> has_only(const Value& object, std::initializer_list<std::string_view> keys) {
  const auto members = TRY(object.members());
  return std::ranges::all_of(members,
                             [&](const Member& member) { return std::ranges::find(keys, member.key) != keys.end(); });
}

class Decoder {
 public:
  base::Status take(const Member& object) {
    const auto& [kind, value] = object;
    if (kind == "metainfo") return {};
    if (kind == "table") return take_table(value);
    if (kind == "set" || kind == "map") return take_set(value);
    if (kind == "chain") return take_chain(value);
    if (kind == "rule") return take_rule(value);
    out_.strange.push_back(fmt::format("a {}", kind));
    return {};
  }

  base::Result<state::ObservedNft> finish() {
    if (!out_.table) {
      if (sets_.empty() && chains_.empty()) return std::move(out_);
      return base::fail(base::Fault::kernel, "nft listing: sets or chains without their table");
    }
    out_.table->own = std::move(own_);
    check_base();
    for (const auto& [name, chain] : chains_) decode_class(name, chain);
    resolve(sources_, out_.table->sources, NftClassKind::source);
    resolve(vips_, out_.table->vips, NftClassKind::reply);
    if (out_.strange.empty()) {
      if (const auto valid = state::validate(*out_.table); !valid) out_.strange.push_back(valid.error().message());
    }
    return std::move(out_);
  }

 private:
  using Targets = std::vector<std::pair<net::Address, std::string>>;

  void strange(std::string what) { out_.strange.push_back(std::move(what)); }

  base::Status take_table(const Value& table) {
    if (TRY(table["name"].string()) != state::kNftTableName) return table.fail("is not our table");
    if (!TRY(has_only(table, {"family", "name", "handle"}))) strange("the table has flags");
    out_.table.emplace();
    return {};
  }

  base::Status take_set(const Value& set) {
    const auto name = TRY(set["name"].string());
    const auto known = std::ranges::find(kSets, name, &Set::name);
    if (known == kSets.end()) {
      strange(fmt::format("set {}", name));
      return {};
    }
    sets_.insert(known->name);
    if (!TRY(is_as_made(set, *known))) strange(fmt::format("set {} is of another type", name));
    for (const Value& element : TRY(set["elem"].items_or_none())) {
      const base::Status taken = known->is_map ? take_goto(*known, element) : take_prefix(element);
      if (!taken) strange(fmt::format("element {} of {}", element.text(), name));
    }
    return {};
  }

  static base::Result<bool> is_as_made(const Value& set, const Set& known) {
    if (!TRY(has_only(set, {"family", "name", "table", "type", "handle", "map", "flags", "elem"}))) return false;
    if (set["type"].text() != fmt::format("\"{}\"", known.type)) return false;
    return known.is_map ? set["map"].text() == R"("verdict")" && !set["flags"].exists()
                        : !set["map"].exists() && set["flags"].text() == R"(["interval"])";
  }

  base::Status take_goto(const Set& map, const Value& element) {
    const auto pair = TRY(element.items());
    if (pair.size() != 2) return element.fail("expected an address and a verdict");
    const auto key = TRY(pair[0].string());
    const auto address = TRY(net::Address::parse(key));
    const auto target = TRY(pair[1]["goto"]["target"].string());
    (map.name.starts_with("src") ? sources_ : vips_).emplace_back(address, target);
    return {};
  }

  base::Status take_prefix(const Value& element) {
    const bool is_host = element.string().has_value();
    const Value prefix = element["prefix"];
    const auto text = TRY(is_host ? element.string() : prefix["addr"].string());
    const auto address = TRY(net::Address::parse(text));
    const auto length = is_host ? address.bits() : TRY(prefix["len"].integer_between(0, address.bits()));
    own_.insert(net::Prefix(address, static_cast<int>(length)));
    return {};
  }

  base::Status take_chain(const Value& chain) {
    const auto name = TRY(chain["name"].string());
    chains_[std::string(name)];
    const auto known = std::ranges::find(kBaseChains, name, &BaseChain::name);
    const BaseChain expected = known == kBaseChains.end() ? BaseChain{} : *known;
    bool same = TRY(chain["type"].string_or("")) == expected.type && TRY(chain["hook"].string_or("")) == expected.hook;
    if (!expected.hook.empty()) {
      same = same && TRY(chain["prio"].integer<int>()) == kManglePriority &&
             TRY(chain["policy"].string_or("accept")) == "accept";
    }
    if (!same) strange(fmt::format("chain {} is at another place", name));
    return {};
  }

  base::Status take_rule(const Value& rule) {
    const auto chain = TRY(rule["chain"].string());
    auto statements = decode_statements(rule["expr"]);
    if (statements && TRY(has_only(rule, {"family", "table", "chain", "handle", "expr"}))) {
      chains_[std::string(chain)].rules.push_back(*std::move(statements));
    } else {
      strange(fmt::format("rule in chain {}: {}", chain, rule["expr"].text()));
    }
    return {};
  }

  // Sets and chains that never vary; what is left in chains_ are classes.
  void check_base() {
    for (const Set& set : kSets) {
      if (!sets_.contains(set.name)) strange(fmt::format("set {} is missing", set.name));
    }
    for (const BaseChain& base : kBaseChains) {
      const auto chain = chains_.extract(std::string(base.name));
      std::vector<std::string_view> have;
      if (!chain.empty()) {
        for (const Statements& rule : chain.mapped().rules) have.push_back(rule.words);
      }
      std::vector<std::string_view> want;
      for (const BaseRule& rule : kBaseRules) {
        if (rule.chain == base.name) want.push_back(rule.words);
      }
      if (have != want) strange(fmt::format("chain {} is not as we made it", base.name));
    }
  }

  // The joins, then the mark. The first class tells the window, and all others must have the same.
  void decode_class(const std::string& name, const Chain& chain) {
    if (chain.rules.empty() || !chain.rules.back().set_mark) return strange(fmt::format("chain {}", name));
    const SetMark mark = *chain.rules.back().set_mark;
    std::uint32_t& window = out_.table->window;
    if (window == 0) window = mark.bits;
    const auto named = state::parse_chain_name(name, window);
    if (!named || named->second != mark.value || mark.bits != window) return strange(fmt::format("chain {}", name));
    state::NftClass entry{.kind = named->first};
    for (std::size_t i = 0; i + 1 < chain.rules.size(); ++i) {
      const auto& join = chain.rules[i].join;
      const auto target = join ? state::parse_chain_name(join->target, window) : std::nullopt;
      const bool ours = target && target->first == NftClassKind::both && join->bits == window;
      if (!ours || !entry.joins.emplace(join->value, target->second).second) {
        return strange(fmt::format("chain {} has another rule", name));
      }
    }
    out_.table->classes.emplace(mark.value, std::move(entry));
  }

  void resolve(const Targets& targets, std::map<net::Address, std::uint32_t>& into, NftClassKind kind) {
    for (const auto& [address, chain] : targets) {
      const auto named = state::parse_chain_name(chain, out_.table->window);
      if (named && named->first == kind) {
        into.emplace_hint(into.end(), address, named->second);
      } else {
        strange(fmt::format("element {} leads to {}", address.text(), chain));
      }
    }
  }

  state::ObservedNft out_;
  std::set<net::Prefix> own_;
  std::set<std::string_view> sets_;
  std::map<std::string, Chain> chains_;
  Targets sources_;
  Targets vips_;
};

// Each item is an object with one member, named by its kind.
template <typename Visit>
base::Status each_object(std::string_view text, Visit visit) {
  json::Reader reader;
  const Value root = TRY(base::within("nft listing", reader.parse(text)));
  for (const Value& item : TRY(root["nftables"].items())) {
    const auto members = TRY(item.members());
    if (members.size() != 1) return item.fail("expected one object");
    TRY(visit(members.front()));
  }
  return {};
}

}  // namespace

base::Result<state::ObservedNft> decode_table(std::string_view json) {
  Decoder decoder;
  TRY(each_object(json, [&](const Member& object) { return decoder.take(object); }));
  return decoder.finish();
}

}  // namespace kernel::nft
