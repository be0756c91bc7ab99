#include "http/listen_address.h"

#include <charconv>

#include <fmt/format.h>

namespace http {
namespace {

base::Result<std::optional<net::Address>> parse_host(std::string_view host) {
  if (host.empty()) return std::nullopt;
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const net::Address address = TRY(net::Address::parse(host));
  if (bracketed != host.contains(':')) {  // As written: ::ffff:10.0.0.1 is one of IPv4 by now.
    return base::fail(base::Fault::invalid, "an IPv6 address, and only that, stands in brackets");
  }
  return address;
}

}  // namespace

base::Result<ListenAddress> ListenAddress::parse(std::string_view text) {
  const auto context = fmt::format("listen address \"{}\"", text);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return base::fail(base::Fault::invalid, context + ": no port");
  ListenAddress out;
  out.address = TRY(base::within(context, parse_host(text.substr(0, colon))));
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || end != port.data() + port.size()) {
    return base::fail(base::Fault::invalid, fmt::format("{}: \"{}\" is no port", context, port));
  }
  return out;
}

}  // namespace http
