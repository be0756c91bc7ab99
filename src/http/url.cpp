#include "http/url.h"

#include <charconv>

#include <fmt/format.h>

namespace http {
namespace {

using base::fail;
using base::Fault;

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

bool is_host(std::string_view host) {
  for (const char c : host) {
    if (!is_unreserved(c) && c != ':') return false;
  }
  return !host.empty();
}

bool is_path(std::string_view path) {
  for (const char c : path) {
    if (c <= ' ' || c == '?' || c == '#' || c == 0x7f) return false;
  }
  return true;
}

base::Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return fail(Fault::invalid, "the port is not a number from 1 to 65535");  // Not repeated: it may be a password.
  }
  return port;
}

struct HostPort {
  std::string_view host;
  std::string_view port;
};

base::Result<HostPort> split(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return fail(Fault::invalid, "'[' without ']'");
    const auto rest = authority.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return fail(Fault::invalid, "text between ']' and the port");
    return HostPort{authority.substr(1, close - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const auto colon = authority.find(':');
  if (colon != authority.rfind(':')) return fail(Fault::invalid, "an IPv6 address stands in brackets");
  if (colon == std::string_view::npos) return HostPort{authority, {}};
  return HostPort{authority.substr(0, colon), authority.substr(colon + 1)};
}

base::Result<Url> parse_parts(std::string_view text) {
  Url url;
  const auto mark = text.find("://");
  if (mark == std::string_view::npos) return fail(Fault::invalid, "no scheme");
  url.scheme = text.substr(0, mark);
  if (url.scheme != "https" && url.scheme != "http") return fail(Fault::invalid, "the scheme is not http or https");

  const auto rest = text.substr(mark + 3);
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto authority = rest.substr(0, slash);
  if (authority.contains('@')) return fail(Fault::invalid, "user name and password have no place here");
  const auto [host, port] = TRY(split(authority));
  if (!is_host(host)) return fail(Fault::invalid, "no host name or address");
  url.host = host;
  url.port = url.scheme == "https" ? 443 : 80;
  if (!port.empty()) url.port = TRY(parse_port(port));

  auto path = rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!is_path(path)) return fail(Fault::invalid, "blanks, queries and fragments have no place here");
  url.path = path;
  return url;
}

}  // namespace

base::Result<Url> Url::parse(std::string_view text) {
  // What stands before '@' may be a password, also where the rest is malformed: it is not shown.
  const auto shown = text.substr(text.rfind('@') + 1);
  return base::within(fmt::format("URL \"{}\"", shown), parse_parts(text));
}

std::string Url::authority() const {
  if (host.starts_with('/')) return "localhost";  // A Unix socket has no name that a Host header could say.
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", scheme, authority(), path);
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const auto digits = text.substr(i).substr(1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (text[i] == '%' && digits.size() == 2 && error == std::errc() && end == digits.data() + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace http
