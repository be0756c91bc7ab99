#include "state/words.h"

#include <array>

#include <fmt/format.h>

namespace state::words {
namespace {

constexpr std::array<Name, 3> kTableNames = {{{253, "default"}, {254, "main"}, {255, "local"}}};
constexpr std::array<Name, 19> kProtocolNames = {{{1, "redirect"},
                                                  {2, "kernel"},
                                                  {3, "boot"},
                                                  {4, "static"},
                                                  {8, "gated"},
                                                  {9, "ra"},
                                                  {10, "mrt"},
                                                  {11, "zebra"},
                                                  {12, "bird"},
                                                  {13, "dnrouted"},
                                                  {14, "xorp"},
                                                  {15, "ntk"},
                                                  {16, "dhcp"},
                                                  {42, "babel"},
                                                  {186, "bgp"},
                                                  {187, "isis"},
                                                  {188, "ospf"},
                                                  {189, "rip"},
                                                  {192, "eigrp"}}};
constexpr std::array<Name, 5> kScopeNames = {
    {{0, "global"}, {200, "site"}, {253, "link"}, {254, "host"}, {255, "nowhere"}}};

}  // namespace

constinit const Names kTables = kTableNames;
constinit const Names kProtocols = kProtocolNames;
constinit const Names kScopes = kScopeNames;

std::string named(Names names, unsigned number) {
  for (const auto& [known, name] : names) {
    if (known == number) return std::string(name);
  }
  return fmt::to_string(number);
}

std::string_view next(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t\n";
  const auto start = rest.find_first_not_of(kBlanks);
  rest.remove_prefix(start == rest.npos ? rest.size() : start);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

base::Result<std::string_view> value_of(std::string_view field, std::string_view& rest) {
  const std::string_view value = next(rest);
  if (value.empty()) return refuse(field, "has no value");
  return value;
}

std::unexpected<base::Error> refuse(std::string_view field, std::string_view reason) {
  return base::fail(base::Fault::invalid, fmt::format("{}: {}", field, reason));
}

std::unexpected<base::Error> not_understood(std::string_view field, std::string_view value) {
  return refuse(field, fmt::format("\"{}\" is not understood", value));
}

base::Result<net::Address> address(std::string_view field, std::string_view text) {
  return base::within(field, net::Address::parse(text));
}

base::Result<net::InterfaceName> interface(std::string_view field, std::string_view text) {
  return base::within(field, net::InterfaceName::parse(text));
}

}  // namespace state::words
