#include "kube/proxy.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "net/address.h"
#include "net/prefix.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_loopback(const http::Url& server) {
  static const net::Prefix v4 = net::Prefix::parse("127.0.0.0/8").value();
  static const net::Prefix v6 = net::Prefix::parse("::1/128").value();
  const auto address = net::Address::parse(server.host);
  return server.host == "localhost" || (address && (v4.contains(*address) || v6.contains(*address)));
}

// One exception of the list; its port, if it names one, must be the server's.
bool covers(std::string_view exception, const http::Url& server) {
  if (exception == "*") return true;
  const auto address = net::Address::parse(server.host);
  if (const auto prefix = net::Prefix::parse(exception); prefix && address) return prefix->contains(*address);
  if (const auto one = net::Address::parse(exception); one && address) return *one == *address;
  if (const auto colon = exception.rfind(':'); colon != std::string_view::npos) {
    if (exception.substr(colon + 1) != std::to_string(server.port)) return false;
    exception = exception.substr(0, colon);
  }
  if (exception.starts_with('.')) exception.remove_prefix(1);
  if (exception.empty()) return false;
  const std::string_view host = server.host;
  return host == exception || (host.ends_with(exception) && host[host.size() - exception.size() - 1] == '.');
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
  if (proxy.empty() || is_loopback(server)) return std::nullopt;
  std::string_view rest = exceptions;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    if (covers(without_blanks(rest.substr(0, comma)), server)) return std::nullopt;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return TRY(parse_proxy(proxy));
}

}  // namespace kube
