#include "kube/proxy.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "net/address.h"
#include "net/prefix.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

// Whom a proxy would lead to, in small letters: names are the same in capital ones.
struct Destination {
  std::string host;
  std::string port;
  std::optional<net::Address> address;  // If the host is one.
};

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Destination destination(const http::Url& server) {
  Destination out{.host = in_small_letters(server.host), .port = std::to_string(server.port), .address = {}};
  if (const auto address = net::Address::parse(out.host)) out.address = *address;
  return out;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool is_loopback(const Destination& server) {
  static const net::Prefix v4 = net::Prefix::parse("127.0.0.0/8").value();
  static const net::Prefix v6 = net::Prefix::parse("::1/128").value();
  return server.host == "localhost" ||
         (server.address && (v4.contains(*server.address) || v6.contains(*server.address)));
}

struct HostPort {
  std::string_view host;
  std::string_view port;  // Empty: any.
};

// The colons of an IPv6 address without brackets are its own.
HostPort split(std::string_view exception) {
  HostPort out{.host = exception, .port = {}};
  const auto colon = exception.rfind(':');
  const bool is_behind_host = exception.starts_with('[')
                                  ? colon != std::string_view::npos && exception[colon - 1] == ']'
                                  : colon == exception.find(':');
  if (is_behind_host && colon != std::string_view::npos) {
    out = {.host = exception.substr(0, colon), .port = exception.substr(colon + 1)};
  }
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

// "example" is that name and all below it, ".example" and "*.example" are only what is below.
bool covers_name(std::string_view name, std::string_view host) {
  if (name.starts_with("*.")) name.remove_prefix(1);
  const bool is_below = name.starts_with('.');
  if (is_below) name.remove_prefix(1);
  if (name.empty()) return false;
  if (host == name) return !is_below;
  return host.ends_with(name) && host[host.size() - name.size() - 1] == '.';
}

// One exception of the list, as Go's programs take it (golang.org/x/net/http/httpproxy), kubectl among them.
bool covers(std::string_view exception, const Destination& server) {
  if (exception == "*") return true;
  if (const auto prefix = net::Prefix::parse(exception)) return server.address && prefix->contains(*server.address);
  const auto [host, port] = split(exception);
  if (!port.empty() && port != server.port) return false;
  if (const auto address = net::Address::parse(host)) return server.address == *address;
  return covers_name(host, server.host);
}

}  // namespace

base::Result<http::Url> parse_proxy(const std::string& text) {
  const auto mark = text.find("://");
  const bool has_scheme = mark != std::string::npos && mark == text.find(':');
  const auto begin = has_scheme ? mark + 3 : 0;
  // Behind the last '@', wherever that stands: a proxy has no path, and not everybody escapes a password.
  const auto host = std::max(begin, text.rfind('@') + 1);
  auto url = TRY(http::Url::parse((has_scheme ? text.substr(0, begin) : "http://") + text.substr(host)));
  if (url.scheme != "http") {
    return fail(Fault::invalid, fmt::format("proxy {}: only http:// proxies are supported", url.text()));
  }
  if (host > begin) url.user = http::unescape(text.substr(begin, host - begin - 1));
  return url;
}

base::Result<std::optional<http::Url>> proxy_for(const http::Url& server, const std::string& proxy,
                                                 const std::string& exceptions) {
  const Destination to = destination(server);
  if (proxy.empty() || is_loopback(to)) return std::nullopt;
  const std::string list = in_small_letters(exceptions);
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    if (covers(without_blanks(rest.substr(0, comma)), to)) return std::nullopt;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return TRY(parse_proxy(proxy));
}

}  // namespace kube
