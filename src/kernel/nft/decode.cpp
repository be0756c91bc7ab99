#include "kernel/nft/decode.h"

#include <algorithm>
#include <array>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <optional>

#include <fmt/format.h>

#include "kernel/nft/fields.h"
#include "kernel/nft/header.h"

namespace kernel::nft {
namespace {

using state::NftClassKind;

const Set* find_set(std::string_view name) {
  const auto known = std::ranges::find(kSets, name, &Set::name);
  return known == kSets.end() ? nullptr : &*known;
}

// What makes a set behave otherwise than ours, none of which has it. Not simply whatever is left: newer kernels tell
// the count and the backend of a set, and one that says still more must not make strangers of all our sets.
constexpr std::array<std::uint16_t, 7> kAlterations = {NFTA_SET_POLICY,      NFTA_SET_DESC,     NFTA_SET_TIMEOUT,
                                                       NFTA_SET_GC_INTERVAL, NFTA_SET_OBJ_TYPE, NFTA_SET_EXPR,
                                                       NFTA_SET_EXPRESSIONS};

base::Result<bool> is_altered(Fields& fields) {
  for (const std::uint16_t alteration : kAlterations) {
    const auto found = fields.take(alteration);
    if (!found || found->says_nothing()) continue;
    if (alteration != NFTA_SET_DESC || !TRY(Fields::read(found->value)).expect_no_more()) return true;
  }
  return false;
}

base::Result<bool> is_as_made(Fields& fields, const Set& set) {
  if (TRY(is_altered(fields))) return false;
  if (TRY(fields.number_or(NFTA_SET_FLAGS, 0)) != flags_of(set)) return false;
  if (TRY(fields.number_or(NFTA_SET_KEY_TYPE, 0)) != key_type_of(set)) return false;
  if (TRY(fields.number(NFTA_SET_KEY_LEN)) != key_length_of(set)) return false;
  return !set.is_map || TRY(fields.number(NFTA_SET_DATA_TYPE)) == static_cast<std::uint32_t>(NFT_DATA_VERDICT);
}

// Where the kernel calls the chain; an error where it does more than call it there.
base::Result<Hook> decode_hook(Fields& fields) {
  constexpr std::uint32_t kKnownFlags = 1;  // NFT_CHAIN_BASE, of which a hook speaks already.
  if ((TRY(fields.number_or(NFTA_CHAIN_FLAGS, 0)) & ~kKnownFlags) != 0) {
    return base::fail(base::Fault::kernel, "flags");
  }
  const auto nest = fields.take(NFTA_CHAIN_HOOK);
  if (!nest) return Hook{};
  auto hook = TRY(Fields::read(nest->value));
  Hook out{.number = TRY(hook.number(NFTA_HOOK_HOOKNUM))};
  out.priority = static_cast<std::int32_t>(TRY(hook.number(NFTA_HOOK_PRIORITY)));
  TRY(hook.expect_no_more());
  if (TRY(fields.number_or(NFTA_CHAIN_POLICY, NF_ACCEPT)) != NF_ACCEPT) {
    return base::fail(base::Fault::kernel, "policy");
  }
  return out;
}

// The rule that ends a class's chain.
struct SetMark {
  std::uint32_t bits = 0;
  std::uint32_t value = 0;
};

std::optional<SetMark> read_set_mark(const Expressions& rule) {
  const auto* const bits = rule.size() == 3 ? std::get_if<Bits>(&rule[1]) : nullptr;
  if (bits == nullptr || rule != set_mark(~bits->mask, bits->flip)) return std::nullopt;
  return SetMark{.bits = ~bits->mask, .value = bits->flip};
}

// The mark of the reply, and the chain for both.
std::optional<std::pair<std::uint32_t, std::string>> read_join(const Expressions& rule, std::uint32_t window) {
  const auto* const is = rule.size() == 4 ? std::get_if<IsWord>(&rule[2]) : nullptr;
  const auto* const verdict = rule.size() == 4 ? std::get_if<Verdict>(&rule[3]) : nullptr;
  if (is == nullptr || verdict == nullptr || rule != join(window, is->value, verdict->chain)) return std::nullopt;
  return std::pair(is->value, verdict->chain);
}

// What of an element says something.
struct RawElement {
  std::span<const std::byte> key;
  std::uint32_t flags = 0;
  std::optional<Attribute> data{};
  std::optional<std::uint16_t> unknown{};  // An attribute that changes its meaning, we do not know how.
};

// Empty where it is a key of another kind.
base::Result<std::span<const std::byte>> decode_key(const Attribute& key) {
  std::span<const std::byte> rest = key.value;
  const Attribute value = rest.empty() ? Attribute{} : TRY(next_attribute(rest));
  if (value.type != NFTA_DATA_VALUE || !rest.empty()) return std::span<const std::byte>();
  return value.value;
}

// Without Fields: there may be tens of thousands.
base::Result<RawElement> read_element(const Attribute& element) {
  RawElement out;
  std::span<const std::byte> rest = element.value;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    switch (attribute.type) {
      case NFTA_SET_ELEM_KEY:
        out.key = TRY(decode_key(attribute));
        break;
      case NFTA_SET_ELEM_FLAGS:
        out.flags = be32toh(TRY(attribute.u32()));
        break;
      case NFTA_SET_ELEM_DATA:
        out.data = attribute;
        break;
      case NFTA_SET_ELEM_USERDATA:  // Somebody's comment.
      case NFTA_SET_ELEM_PAD:
        break;
      default:
        if (!attribute.says_nothing()) out.unknown = attribute.type;
    }
  }
  return out;
}

// The chain that a verdict goes to.
base::Result<std::string_view> decode_goto(const Attribute& data) {
  const VerdictView verdict = TRY(decode_verdict_data(data));
  if (verdict.code != NFT_GOTO || verdict.chain.empty()) return base::fail(base::Fault::kernel, "another verdict");
  return verdict.chain;
}

std::string element_text(std::span<const std::byte> key) {
  const auto address = net::Address::from_bytes(key);
  return address ? address->text() : fmt::format("of {} bytes", key.size());
}

}  // namespace

base::Status TableDecoder::take(const Received& message) {
  if (message.type >> 8U != NFNL_SUBSYS_NFTABLES) return base::fail(base::Fault::kernel, "no message of nftables");
  if (!TRY(names_our_table(message))) return {};
  std::span<const std::byte> rest = message.payload;
  TRY(take_header<nfgenmsg>(rest));
  switch (message.type & 0xffU) {
    case NFT_MSG_NEWTABLE:
      return take_table(rest);
    case NFT_MSG_NEWSET:
      return take_set(rest);
    case NFT_MSG_NEWCHAIN:
      return take_chain(rest);
    case NFT_MSG_NEWRULE:
      return take_rule(rest);
    case NFT_MSG_NEWSETELEM:
      return take_elements(rest);
    case NFT_MSG_NEWOBJ:
      strange("an object such as a counter");
      return {};
    case NFT_MSG_NEWFLOWTABLE:
      strange("a flow table");
      return {};
    default:
      return base::fail(base::Fault::kernel, fmt::format("message {} of nftables", message.type & 0xffU));
  }
}

base::Status TableDecoder::take_table(std::span<const std::byte> attributes) {
  auto fields = TRY(Fields::read(attributes));
  out_.table.emplace();
  if (TRY(fields.number_or(NFTA_TABLE_FLAGS, 0)) != 0) strange("the table has flags");
  return {};
}

base::Status TableDecoder::take_set(std::span<const std::byte> attributes) {
  auto fields = TRY(Fields::read(attributes));
  const std::string name = TRY(fields.text(NFTA_SET_NAME));
  const Set* const known = find_set(name);
  if (known == nullptr) {
    strange(fmt::format("set {}", name));
    return {};
  }
  sets_.insert(known->name);
  if (TRY(is_as_made(fields, *known))) {
    readable_sets_.insert(known->name);
  } else {
    strange(fmt::format("set {} is of another type", name));
  }
  return {};
}

base::Status TableDecoder::take_chain(std::span<const std::byte> attributes) {
  auto fields = TRY(Fields::read(attributes));
  const std::string name = TRY(fields.text(NFTA_CHAIN_NAME));
  chains_[name];
  std::string_view type;
  if (const auto given = fields.take(NFTA_CHAIN_TYPE)) type = TRY(given->text());
  Hook expected;
  for (const BaseChain& base : base_chains()) {
    if (base.name == name) expected = base.hook;
  }
  auto hook = decode_hook(fields);
  if (hook) hook->type = type;
  if (!hook || *hook != expected) strange(fmt::format("chain {} is at another place", name));
  return {};
}

base::Status TableDecoder::take_rule(std::span<const std::byte> attributes) {
  auto fields = TRY(Fields::read(attributes));
  const std::string chain = TRY(fields.text(NFTA_RULE_CHAIN));
  const auto list = fields.take(NFTA_RULE_EXPRESSIONS);
  auto expressions = list ? decode_expressions(*list) : base::Result<Expressions>();
  if (expressions) {
    chains_[chain].push_back(*std::move(expressions));
  } else {
    strange(fmt::format("rule in chain {}: {}", chain, expressions.error().message()));
  }
  return {};
}

base::Status TableDecoder::take_elements(std::span<const std::byte> attributes) {
  auto fields = TRY(Fields::read(attributes));
  const std::string name = TRY(fields.text(NFTA_SET_ELEM_LIST_SET));
  const Set* const set = find_set(name);
  const auto list = fields.take(NFTA_SET_ELEM_LIST_ELEMENTS);
  if (set == nullptr || !list) return {};
  std::span<const std::byte> rest = list->value;
  while (!rest.empty()) {
    const Attribute element = TRY(next_attribute(rest));
    TRY(take_element(*set, element));
  }
  return {};
}

base::Status TableDecoder::take_element(const Set& set, const Attribute& element) {
  const RawElement raw = TRY(read_element(element));
  const auto other = [&] {
    strange(fmt::format("element {} of {}", element_text(raw.key), set.name));
    return base::Status();
  };
  if (raw.unknown) {
    strange(fmt::format("element {} of {} has attribute {}", element_text(raw.key), set.name, *raw.unknown));
    return {};
  }
  if (raw.key.size() != key_length_of(set)) return other();
  if (!set.is_map) {
    if ((raw.flags & ~static_cast<std::uint32_t>(NFT_SET_ELEM_INTERVAL_END)) != 0) return other();
    IntervalEnd end{.is_behind = raw.flags != 0};
    std::ranges::copy(raw.key, end.key.begin());
    own_[set.family].push_back(end);
    return {};
  }
  const auto address = net::Address::from_bytes(raw.key);
  const auto chain = raw.data ? decode_goto(*raw.data) : base::fail(base::Fault::kernel, "no verdict");
  if (!address || address->family() != set.family || !chain || raw.flags != 0) return other();
  (set.name.starts_with("src") ? sources_ : vips_).emplace_back(*address, place_of(*chain));
  return {};
}

// Elements of one chain come in runs, and of chains there are few.
std::size_t TableDecoder::place_of(std::string_view chain) {
  const auto found = std::ranges::find(chains_named_, chain);
  const auto place = static_cast<std::size_t>(found - chains_named_.begin());
  if (found == chains_named_.end()) chains_named_.emplace_back(chain);
  return place;
}

base::Result<state::ObservedNft> TableDecoder::finish() && {
  if (!out_.table) {
    if (sets_.empty() && chains_.empty() && out_.strange.empty()) return std::move(out_);
    return base::fail(base::Fault::kernel, "nft: sets or chains without their table");
  }
  resolve_own();
  check_base();
  for (const auto& [name, rules] : chains_) decode_class(name, rules);
  out_.table->sources = resolve(sources_, NftClassKind::source);
  out_.table->vips = resolve(vips_, NftClassKind::reply);
  if (out_.strange.empty()) {
    if (const auto valid = state::validate(*out_.table); !valid) strange(valid.error().message());
  }
  return std::move(out_);
}

// Sets and chains that never vary; what is left in chains_ are classes.
void TableDecoder::check_base() {
  for (const Set& set : kSets) {
    if (!sets_.contains(set.name)) strange(fmt::format("set {} is missing", set.name));
  }
  const auto rules = base_rules();
  for (const BaseChain& base : base_chains()) {
    const auto chain = chains_.extract(std::string(base.name));
    std::vector<Expressions> want;
    for (const BaseRule& rule : rules) {
      if (rule.chain == base.name) want.push_back(rule.does);
    }
    if (chain.empty() || chain.mapped() != want) strange(fmt::format("chain {} is not as we made it", base.name));
  }
}

// The joins, then the mark. The first class tells the window, and all others must have the same.
void TableDecoder::decode_class(const std::string& name, const std::vector<Expressions>& rules) {
  const auto mark = rules.empty() ? std::nullopt : read_set_mark(rules.back());
  if (!mark) return strange(fmt::format("chain {}", name));
  std::uint32_t& window = out_.table->window;
  if (window == 0) window = mark->bits;
  const auto named = state::parse_chain_name(name, window);
  if (!named || named->second != mark->value || mark->bits != window) return strange(fmt::format("chain {}", name));
  state::NftClass entry{.kind = named->first};
  for (std::size_t i = 0; i + 1 < rules.size(); ++i) {
    const auto joined = read_join(rules[i], window);
    const auto both = joined ? state::parse_chain_name(joined->second, window) : std::nullopt;
    const bool is_ours = both && both->first == NftClassKind::both;
    if (!is_ours || !entry.joins.emplace(joined->first, both->second).second) {
      return strange(fmt::format("chain {} has another rule", name));
    }
  }
  out_.table->classes.emplace(mark->value, std::move(entry));
}

void TableDecoder::resolve_own() {
  for (auto& [family, ends] : own_) {
    auto prefixes = prefixes_of(std::move(ends), family);
    if (prefixes) {
      out_.table->own.merge(*prefixes);
    } else {
      strange(fmt::format("set {}: {}", own_set(family), prefixes.error().message()));
    }
  }
}

std::map<net::Address, std::uint32_t> TableDecoder::resolve(Targets& targets, NftClassKind kind) {
  std::vector<std::optional<std::uint32_t>> marks;
  for (const std::string& chain : chains_named_) {
    const auto named = state::parse_chain_name(chain, out_.table->window);
    marks.push_back(named && named->first == kind ? std::optional(named->second) : std::nullopt);
  }
  std::ranges::sort(targets);  // The kernel tells them in the order of a hash; a map is made fast only in its own.
  std::map<net::Address, std::uint32_t> out;
  for (const auto& [address, chain] : targets) {
    if (marks[chain]) {
      out.emplace_hint(out.end(), address, *marks[chain]);
    } else {
      strange(fmt::format("element {} leads to {}", address.text(), chains_named_[chain]));
    }
  }
  return out;
}

}  // namespace kernel::nft
