#include "kernel/nft/encode.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernel/nft/interval.h"

namespace kernel::nft {
namespace {

using state::NftChange;
using state::NftClassKind;
using Marks = std::map<net::Address, std::uint32_t>;

Element element_of(const net::Address& address) {
  Element out;
  const auto bytes = address.bytes();
  std::ranges::copy(bytes, out.key.begin());
  out.length = static_cast<std::uint8_t>(bytes.size());
  return out;
}

class Transaction {
 public:
  explicit Transaction(const NftChange& change) : change_(change) {}

  Requests written() && {
    using enum NftChange::Table;
    if (change_.table == destroy) {
      out_.delete_table();
      return std::move(out_);
    }
    // An add is no error where it is there already: nobody made it meanwhile, or it goes all the same.
    if (change_.table != keep) {
      out_.add_table();
      out_.delete_table();
      out_.add_table();
      base();
    }
    put_classes();
    remove_elements(change_.remove_sources, source_map);
    add_elements(change_.add_sources, source_map, NftClassKind::source);
    remove_elements(change_.remove_vips, vip_map);
    add_elements(change_.add_vips, vip_map, NftClassKind::reply);
    for (const net::Family family : kFamilies) {
      out_.delete_elements(own_set(family), ends_of(change_.remove_own, family));
      out_.add_elements(own_set(family), ends_of(change_.add_own, family));
    }
    remove_classes();
    return std::move(out_);
  }

 private:
  static constexpr std::array kFamilies = {net::Family::v4, net::Family::v6};

  void base() {
    for (const Set& set : kSets) out_.add_set(set);
    for (const BaseChain& chain : base_chains()) out_.add_chain(chain.name, chain.hook);
    for (const BaseRule& rule : base_rules()) out_.add_rule(rule.chain, rule.does);
  }

  // All chains before their rules: a rule names other chains.
  void put_classes() {
    for (const auto& [mark, entry] : change_.put_classes) {
      const std::string name = name_of(entry.kind, mark);
      if (change_.new_classes.contains(mark)) {
        out_.add_chain(name);
      } else {
        out_.flush_chain(name);
      }
    }
    for (const auto& [mark, entry] : change_.put_classes) {
      const std::string name = name_of(entry.kind, mark);
      for (const auto& [reply, both] : entry.joins) {
        out_.add_rule(name, join(change_.window, reply, name_of(NftClassKind::both, both)));
      }
      out_.add_rule(name, set_mark(change_.window, mark));
    }
  }

  // In two rounds: a chain that another one still names cannot go.
  void remove_classes() {
    for (const auto& [mark, entry] : change_.remove_classes) out_.flush_chain(name_of(entry.kind, mark));
    for (const auto& [mark, entry] : change_.remove_classes) out_.delete_chain(name_of(entry.kind, mark));
  }

  template <typename Map>
  void remove_elements(const Marks& entries, Map map) {
    for (const net::Family family : kFamilies) {
      std::vector<Element> elements;
      for (const auto& [address, mark] : entries) {
        if (address.family() == family) elements.push_back(element_of(address));
      }
      out_.delete_elements(map(family), elements);
    }
  }

  template <typename Map>
  void add_elements(const Marks& entries, Map map, NftClassKind kind) {
    std::map<std::uint32_t, std::string> chains;
    for (const net::Family family : kFamilies) {
      std::vector<Element> elements;
      for (const auto& [address, mark] : entries) {
        if (address.family() != family) continue;
        std::string& chain = chains[mark];
        if (chain.empty()) chain = name_of(kind, mark);
        elements.push_back(element_of(address));
        elements.back().chain = chain;
      }
      out_.add_elements(map(family), elements);
    }
  }

  static std::vector<Element> ends_of(const std::set<net::Prefix>& prefixes, net::Family family) {
    std::vector<Element> out;
    for (const net::Prefix& prefix : prefixes) {
      if (prefix.family() != family) continue;
      out.push_back(element_of(prefix.address()));
      const auto behind = key_behind(prefix);
      if (!behind) continue;  // It reaches to the last address there is.
      out.push_back(Element{.key = *behind, .length = out.back().length, .ends_interval = true});
    }
    return out;
  }

  std::string name_of(NftClassKind kind, std::uint32_t mark) const {
    return state::chain_name(kind, mark, change_.window);
  }

  const NftChange& change_;
  Requests out_{state::kNftTableName};
};

}  // namespace

Requests encode(const NftChange& change) {
  return Transaction(change).written();
}

}  // namespace kernel::nft
