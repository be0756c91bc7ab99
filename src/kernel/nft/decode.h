#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/nft/expression.h"
#include "kernel/nft/interval.h"
#include "kernel/nft/layout.h"
#include "state/nft_change.h"

namespace kernel::nft {

// Our table from the messages in which the kernel tells of it and what is in it, kind by kind; those about other tables
// are passed over. Whatever is not of our making is named as strange: an object, attribute or expression we do not
// know, and one of ours that is missing or says something else. An error means that a message is none of nftables.
class TableDecoder {
 public:
  base::Status take(const Received& message);

  // Of the sets that were told, those whose elements can be read.
  const std::set<std::string_view>& readable_sets() const { return readable_sets_; }

  base::Result<state::ObservedNft> finish() &&;

 private:
  // Addresses of a map with the place of their chain in chains_named_.
  using Targets = std::vector<std::pair<net::Address, std::size_t>>;

  void strange(std::string what) { out_.strange.push_back(std::move(what)); }

  base::Status take_table(std::span<const std::byte> attributes);
  base::Status take_set(std::span<const std::byte> attributes);
  base::Status take_chain(std::span<const std::byte> attributes);
  base::Status take_rule(std::span<const std::byte> attributes);
  base::Status take_elements(std::span<const std::byte> attributes);
  base::Status take_element(const Set& set, const Attribute& element);
  std::size_t place_of(std::string_view chain);

  void check_base();
  void decode_class(const std::string& name, const std::vector<Expressions>& rules);
  void resolve_own();
  std::map<net::Address, std::uint32_t> resolve(Targets& targets, state::NftClassKind kind);

  state::ObservedNft out_;
  std::set<std::string_view> sets_;  // Ours, by name.
  std::set<std::string_view> readable_sets_;
  std::map<std::string, std::vector<Expressions>> chains_;  // With their rules, in order.
  std::vector<std::string> chains_named_;                   // By elements.
  Targets sources_;
  Targets vips_;
  std::map<net::Family, std::vector<IntervalEnd>> own_;
};

}  // namespace kernel::nft
