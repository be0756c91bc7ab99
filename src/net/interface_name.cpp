#include "net/interface_name.h"

#include <algorithm>

#include <fmt/format.h>

namespace net {
namespace {

bool allowed(char c) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r\xa0";  // The kernel's isspace() includes Latin-1's blank.
  return c != '/' && c != ':' && c != '\0' && kBlanks.find(c) == std::string_view::npos;
}

}  // namespace

base::Result<InterfaceName> InterfaceName::parse(std::string_view text) {
  if (text.empty() || text == "." || text == ".." || !std::ranges::all_of(text, allowed)) {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is not an interface name", text));
  }
  if (text.size() > kMaxLength) {
    return base::fail(base::Fault::invalid,
                      fmt::format("interface name \"{}\" is longer than {} characters", text, kMaxLength));
  }
  InterfaceName out;
  std::ranges::copy(text, out.name_.begin());
  return out;
}

}  // namespace net
