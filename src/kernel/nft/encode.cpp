#include "kernel/nft/encode.h"

#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernel/nft/layout.h"

namespace kernel::nft {
namespace {

using state::NftChange;
using state::NftClassKind;
using Elements = std::map<net::Address, std::uint32_t>;

class Commands {
 public:
  explicit Commands(const NftChange& change) : change_(change) {}

  std::string written() && {
    using enum NftChange::Table;
    if (change_.table == destroy) {
      table("delete");
      return std::move(out_);
    }
    // `add` is no error where it is there already: nobody made it meanwhile, or it goes all the same.
    if (change_.table != keep) {
      table("add");
      table("delete");
      table("add");
      base();
    }
    put_classes();
    elements("delete", change_.remove_sources, source_map, NftClassKind::source);
    elements("add", change_.add_sources, source_map, NftClassKind::source);
    elements("delete", change_.remove_vips, vip_map, NftClassKind::reply);
    elements("add", change_.add_vips, vip_map, NftClassKind::reply);
    own("delete", change_.remove_own);
    own("add", change_.add_own);
    remove_classes();
    return std::move(out_);
  }

 private:
  template <typename... Parts>
  void line(fmt::format_string<Parts...> form, Parts&&... parts) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Parts>(parts)...);
    out_ += '\n';
  }

  void table(std::string_view verb) { line("{} table inet {}", verb, state::kNftTableName); }

  void base() {
    for (const Set& set : kSets) {
      line("add {} inet {} {} {{ type {}{}; }}", set.is_map ? "map" : "set", state::kNftTableName, set.name, set.type,
           set.is_map ? " : verdict" : "; flags interval");
    }
    for (const BaseChain& base : kBaseChains) {
      if (base.hook.empty()) {
        chain("add", base.name);
      } else {
        line("add chain inet {} {} {{ type {} hook {} priority {}; policy accept; }}", state::kNftTableName, base.name,
             base.type, base.hook, kManglePriority);
      }
    }
    for (const BaseRule& rule : kBaseRules) add_rule(rule.chain, rule.words);
  }

  void add_rule(std::string_view chain, std::string_view statements) {
    line("add rule inet {} {} {}", state::kNftTableName, chain, statements);
  }

  void chain(std::string_view verb, std::string_view name) {
    line("{} chain inet {} {}", verb, state::kNftTableName, name);
  }

  // All chains before their rules: a rule names other chains.
  void put_classes() {
    for (const auto& [mark, entry] : change_.put_classes) {
      chain(change_.new_classes.contains(mark) ? "add" : "flush", name_of(entry.kind, mark));
    }
    for (const auto& [mark, entry] : change_.put_classes) {
      const std::string name = name_of(entry.kind, mark);
      for (const auto& [reply, both] : entry.joins) {
        add_rule(name, fmt::format("meta mark & {:#x} == {:#x} goto {}", change_.window, reply,
                                   name_of(NftClassKind::both, both)));
      }
      add_rule(name, fmt::format("meta mark set meta mark & {:#x} | {:#x}", ~change_.window, mark));
    }
  }

  // In two rounds: a chain that another one still names cannot go.
  void remove_classes() {
    for (const char* verb : {"flush", "delete"}) {
      for (const auto& [mark, entry] : change_.remove_classes) chain(verb, name_of(entry.kind, mark));
    }
  }

  template <typename Map>
  void elements(std::string_view verb, const Elements& entries, Map map, NftClassKind kind) {
    for (const auto family : {net::Family::v4, net::Family::v6}) {
      std::string list;
      for (const auto& [address, mark] : entries) {
        if (address.family() != family) continue;
        fmt::format_to(std::back_inserter(list), "{}{} : goto {}", list.empty() ? "" : ", ", address.text(),
                       name_of(kind, mark));
      }
      element(verb, map(family), list);
    }
  }

  void own(std::string_view verb, const std::set<net::Prefix>& prefixes) {
    for (const auto family : {net::Family::v4, net::Family::v6}) {
      std::string list;
      for (const auto& prefix : prefixes) {
        if (prefix.family() != family) continue;
        fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", prefix.text());
      }
      element(verb, own_set(family), list);
    }
  }

  void element(std::string_view verb, std::string_view set, const std::string& list) {
    if (!list.empty()) line("{} element inet {} {} {{ {} }}", verb, state::kNftTableName, set, list);
  }

  std::string name_of(NftClassKind kind, std::uint32_t mark) const {
    return state::chain_name(kind, mark, change_.window);
  }

  const NftChange& change_;
  std::string out_;
};

}  // namespace

std::string encode(const NftChange& change) {
  return Commands(change).written();
}

}  // namespace kernel::nft
