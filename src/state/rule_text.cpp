#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "state/rule.h"

// Words and order as in iproute2's print_rule() and iprule_modify().
namespace state {
namespace {

using Name = std::pair<unsigned, std::string_view>;
constexpr std::array<Name, 3> kTables = {{{kTableDefault, "default"}, {kTableMain, "main"}, {kTableLocal, "local"}}};
constexpr std::array<Name, 4> kProtocols = {{{1, "redirect"}, {2, "kernel"}, {3, "boot"}, {4, "static"}}};
constexpr std::array<Name, 7> kIpProtocols = {
    {{1, "icmp"}, {6, "tcp"}, {17, "udp"}, {33, "dccp"}, {58, "ipv6-icmp"}, {132, "sctp"}, {136, "udplite"}}};
constexpr std::array<std::pair<RuleAction, std::string_view>, 4> kActions = {{{RuleAction::nop, "nop"},
                                                                              {RuleAction::blackhole, "blackhole"},
                                                                              {RuleAction::unreachable, "unreachable"},
                                                                              {RuleAction::prohibit, "prohibit"}}};
constexpr std::string_view kL3mdevTable = "[l3mdev-table]";

template <std::size_t N>
std::string named(const std::array<Name, N>& names, unsigned number) {
  for (const auto& [known, name] : names) {
    if (known == number) return std::string(name);
  }
  return fmt::to_string(number);
}

std::string prefix_text(const std::optional<net::Prefix>& prefix) {
  if (!prefix) return "all";
  return prefix->is_host() ? prefix->address().text() : prefix->text();
}

std::string ports_text(const PortRange& range) {
  return range.first == range.last ? fmt::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

void append_selector(std::string& out, const Selector& selector) {
  const auto add = [&]<typename... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  if (selector.invert) add(" not");
  add(" from {}", prefix_text(selector.from));
  if (selector.to) add(" to {}", prefix_text(selector.to));
  if (selector.tos != 0) add(" tos {:#04x}", selector.tos);
  if (selector.mark) {
    add(" fwmark {:#x}", selector.mark->value);
    if (selector.mark->mask != 0xffffffff) add("/{:#x}", selector.mark->mask);
  }
  if (!selector.iif.empty()) add(" iif {}", selector.iif.text());
  if (!selector.oif.empty()) add(" oif {}", selector.oif.text());
  if (selector.uids) add(" uidrange {}-{}", selector.uids->first, selector.uids->last);
  if (selector.ip_protocol != 0) add(" ipproto {}", named(kIpProtocols, selector.ip_protocol));
  if (selector.sport) add(" sport {}", ports_text(*selector.sport));
  if (selector.dport) add(" dport {}", ports_text(*selector.dport));
}

void append_action(std::string& out, const Rule& rule) {
  const auto into = std::back_inserter(out);
  if (rule.l3mdev) fmt::format_to(into, " lookup {}", kL3mdevTable);
  if (rule.table != 0) fmt::format_to(into, " lookup {}", named(kTables, rule.table));
  if (rule.suppress_prefixlength) fmt::format_to(into, " suppress_prefixlength {}", *rule.suppress_prefixlength);
  if (rule.suppress_ifgroup) fmt::format_to(into, " suppress_ifgroup {}", *rule.suppress_ifgroup);
  if (rule.action == RuleAction::go_to) fmt::format_to(into, " goto {}", rule.target);
  for (const auto& [action, word] : kActions) {
    if (rule.action == action) fmt::format_to(into, " {}", word);
  }
}

std::unexpected<base::Error> wrong(std::string_view field, std::string_view value) {
  return base::fail(base::Fault::invalid, fmt::format("{}: \"{}\" is not understood", field, value));
}

// Decimal or 0x hexadecimal.
template <typename Number>
base::Result<Number> number(std::string_view field, std::string_view text) {
  const bool hex = text.starts_with("0x");
  const std::string_view digits = hex ? text.substr(2) : text;
  Number out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return wrong(field, text);
  return out;
}

template <typename Number, std::size_t N>
base::Result<Number> number_or_name(std::string_view field, std::string_view text, const std::array<Name, N>& names) {
  for (const auto& [known, name] : names) {
    if (name == text) return static_cast<Number>(known);
  }
  return number<Number>(field, text);
}

template <typename Range, typename Number>
base::Result<Range> range(std::string_view field, std::string_view text) {
  const auto dash = text.find('-');
  const auto first = TRY(number<Number>(field, text.substr(0, dash)));
  const auto last = dash == text.npos ? first : TRY(number<Number>(field, text.substr(dash + 1)));
  return Range{.first = first, .last = last};
}

base::Result<std::optional<net::Prefix>> prefix(std::string_view field, std::string_view text) {
  if (text == "all" || text == "any" || text == "default") return std::nullopt;
  if (text.find('/') == text.npos) return net::Prefix::host(TRY(base::within(field, net::Address::parse(text))));
  return TRY(base::within(field, net::Prefix::parse(text)));
}

base::Result<Mark> mark(std::string_view text) {
  const auto slash = text.find('/');
  Mark out{.value = TRY(number<std::uint32_t>("fwmark", text.substr(0, slash)))};
  if (slash != text.npos) out.mask = TRY(number<std::uint32_t>("fwmark", text.substr(slash + 1)));
  return out;
}

// One `word value` pair.
base::Status set_field(Rule& rule, std::string_view word, std::string_view value) {
  Selector& selector = rule.selector;
  if (word == "priority" || word == "pref") {
    rule.priority = TRY(number<std::uint32_t>("priority", value));
  } else if (word == "from") {
    selector.from = TRY(prefix(word, value));
  } else if (word == "to") {
    selector.to = TRY(prefix(word, value));
  } else if (word == "iif") {
    selector.iif = TRY(base::within(word, net::InterfaceName::parse(value)));
  } else if (word == "oif") {
    selector.oif = TRY(base::within(word, net::InterfaceName::parse(value)));
  } else if (word == "fwmark") {
    selector.mark = TRY(mark(value));
  } else if (word == "tos") {
    selector.tos = TRY(number<std::uint8_t>(word, value));
  } else if (word == "ipproto") {
    selector.ip_protocol = TRY((number_or_name<std::uint8_t>(word, value, kIpProtocols)));
  } else if (word == "sport") {
    selector.sport = TRY((range<PortRange, std::uint16_t>(word, value)));
  } else if (word == "dport") {
    selector.dport = TRY((range<PortRange, std::uint16_t>(word, value)));
  } else if (word == "uidrange") {
    selector.uids = TRY((range<UidRange, std::uint32_t>(word, value)));
  } else if (word == "lookup" || word == "table") {
    if (value == kL3mdevTable) {
      rule.l3mdev = true;
    } else {
      rule.table = TRY((number_or_name<std::uint32_t>("table", value, kTables)));
    }
  } else if (word == "suppress_prefixlength") {
    rule.suppress_prefixlength = TRY(number<std::uint8_t>(word, value));
  } else if (word == "suppress_ifgroup") {
    rule.suppress_ifgroup = TRY(number<std::uint32_t>(word, value));
  } else if (word == "goto") {
    rule.action = RuleAction::go_to;
    rule.target = TRY(number<std::uint32_t>(word, value));
  } else if (word == "proto" || word == "protocol") {
    rule.protocol = TRY((number_or_name<std::uint8_t>("protocol", value, kProtocols)));
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no word of a rule", word));
  }
  return {};
}

// A word that stands alone; false if it wants a value.
bool set_flag(Rule& rule, std::string_view word) {
  if (word == "not") {
    rule.selector.invert = true;
    return true;
  }
  for (const auto& [action, name] : kActions) {
    if (word == name) {
      rule.action = action;
      return true;
    }
  }
  return false;
}

std::string_view next_word(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t";
  const auto start = rest.find_first_not_of(kBlanks);
  rest.remove_prefix(start == rest.npos ? rest.size() : start);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string text(const Rule& rule) {
  std::string out = fmt::format("{}:", rule.priority);
  append_selector(out, rule.selector);
  append_action(out, rule);
  if (rule.protocol != 0) fmt::format_to(std::back_inserter(out), " proto {}", named(kProtocols, rule.protocol));
  return out;
}

base::Result<Rule> parse_rule(net::Family family, std::string_view text) {
  Rule rule{.family = family};
  std::string_view rest = text;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (word.ends_with(':') && word.data() == text.data()) {
      rule.priority = TRY(number<std::uint32_t>("priority", word.substr(0, word.size() - 1)));
      continue;
    }
    if (set_flag(rule, word)) continue;
    const std::string_view value = next_word(rest);
    if (value.empty()) return base::fail(base::Fault::invalid, fmt::format("{}: has no value", word));
    TRY(set_field(rule, word, value));
  }
  return canonical(rule);
}

}  // namespace state
