#include "state/sysctl.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "state/words.h"

namespace state {
namespace {

constexpr std::array<std::pair<SysctlName, std::string_view>, 7> kNames = {{
    {SysctlName::rp_filter, "rp_filter"},
    {SysctlName::src_valid_mark, "src_valid_mark"},
    {SysctlName::accept_local, "accept_local"},
    {SysctlName::arp_ignore, "arp_ignore"},
    {SysctlName::arp_announce, "arp_announce"},
    {SysctlName::arp_filter, "arp_filter"},
    {SysctlName::forwarding, "forwarding"},
}};

std::string_view word_of(SysctlName name) {
  for (const auto& [known, word] : kNames) {
    if (known == name) return word;
  }
  return "?";
}

// Takes the part before the next '/' off `rest`.
std::string_view next_part(std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

base::Result<SysctlName> name_of(std::string_view text) {
  for (const auto& [name, word] : kNames) {
    if (word == text) return name;
  }
  return words::not_understood("sysctl", text);
}

}  // namespace

base::Status validate(const Sysctl& sysctl) {
  if (sysctl.family == net::Family::v6 && sysctl.name != SysctlName::forwarding) {
    return words::refuse(word_of(sysctl.name), "only for IPv4");
  }
  const std::int32_t most = sysctl.name == SysctlName::arp_ignore                                             ? 8
                            : sysctl.name == SysctlName::rp_filter || sysctl.name == SysctlName::arp_announce ? 2
                                                                                                              : 1;
  if (sysctl.value < 0 || sysctl.value > most) {
    return words::refuse(word_of(sysctl.name), fmt::format("{} is not from 0 to {}", sysctl.value, most));
  }
  return {};
}

std::string path(const Sysctl& sysctl) {
  return fmt::format("net/{}/conf/{}/{}", sysctl.family == net::Family::v4 ? "ipv4" : "ipv6",
                     sysctl.dev.empty() ? "all" : sysctl.dev.text(), word_of(sysctl.name));
}

std::string text(const Sysctl& sysctl) {
  return fmt::format("{} = {}", path(sysctl), sysctl.value);
}

base::Result<Sysctl> parse_sysctl(std::string_view text) {
  std::string_view rest = text;
  std::string_view where = words::next(rest);
  const std::string_view sign = words::next(rest);
  const std::string_view value = words::next(rest);
  if (sign != "=" || value.empty()) return words::refuse("sysctl", fmt::format("\"{}\" has no value", text));
  const bool net = next_part(where) == "net";
  const std::string_view family = next_part(where);
  const bool conf = next_part(where) == "conf";
  const std::string_view dev = next_part(where);
  if (!net || !conf || (family != "ipv4" && family != "ipv6")) return words::not_understood("sysctl", text);
  Sysctl out{.family = family == "ipv4" ? net::Family::v4 : net::Family::v6};
  out.name = TRY(name_of(where));
  if (dev != "all") out.dev = TRY(words::interface("sysctl", dev));
  out.value = static_cast<std::int32_t>(TRY(words::number<std::uint16_t>(where, value)));
  return out;
}

}  // namespace state
