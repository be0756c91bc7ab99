#include <arpa/inet.h>
#include <array>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "bench/measure.h"
#include "bench/samples.h"
#include "net/prefix.h"

// Addresses and prefixes to and from text, beside what the C library has for addresses.
namespace bench {
namespace {

constexpr std::uint32_t kMany = 100'000;

// IPv4 and IPv6 in turns.
std::vector<net::Address> addresses(std::uint32_t count) {
  std::vector<net::Address> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    out.push_back(net::Address::parse(i % 2 == 0 ? sample_address(10, i) : sample_address6(i)).value());
  }
  return out;
}

std::vector<std::string> texts(std::uint32_t count) {
  std::vector<std::string> out;
  for (const net::Address& address : addresses(count)) out.push_back(address.text());
  return out;
}

base::Result<double> parse(std::uint32_t count) {
  const auto all = texts(count);
  return timed([&]() -> base::Status {
    for (const std::string& text : all) TRY(net::Address::parse(text));
    return {};
  });
}

base::Result<double> parse_by_library(std::uint32_t count) {
  const auto all = texts(count);
  return timed([&]() -> base::Status {
    std::array<std::byte, sizeof(in6_addr)> raw;
    for (const std::string& text : all) {
      const int family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
      if (::inet_pton(family, text.c_str(), raw.data()) != 1) return base::fail(base::Fault::bug, text);
    }
    return {};
  });
}

base::Result<double> format(std::uint32_t count) {
  const auto all = addresses(count);
  return timed([&]() -> base::Status {
    std::size_t length = 0;
    for (const net::Address& address : all) length += address.text().size();
    return length > 0 ? base::Status() : base::fail(base::Fault::bug, "no text");
  });
}

base::Result<double> format_by_library(std::uint32_t count) {
  const auto all = addresses(count);
  return timed([&]() -> base::Status {
    std::size_t length = 0;
    std::array<char, INET6_ADDRSTRLEN> text;
    for (const net::Address& address : all) {
      const int family = address.family() == net::Family::v4 ? AF_INET : AF_INET6;
      if (::inet_ntop(family, address.bytes().data(), text.data(), text.size()) == nullptr) {
        return base::fail(base::Fault::bug, address.text());
      }
      length += std::string(text.data()).size();
    }
    return length > 0 ? base::Status() : base::fail(base::Fault::bug, "no text");
  });
}

// Host bits are cut, so that equal networks become equal values.
base::Result<double> canonical(std::uint32_t count) {
  std::vector<std::string> all;
  for (const std::string& text : texts(count)) all.push_back(text + "/20");
  return timed([&]() -> base::Status {
    for (const std::string& text : all) TRY(net::Prefix::parse(text));
    return {};
  });
}

}  // namespace

Group net_group() {
  return {.name = "net",
          .promises = {{.name = "100,000 addresses parsed",
                        .ours = [] { return parse(kMany); },
                        .peer = Contender{"inet_pton", [] { return parse_by_library(kMany); }}},
                       {.name = "100,000 addresses formatted",
                        .ours = [] { return format(kMany); },
                        .peer = Contender{"inet_ntop", [] { return format_by_library(kMany); }}},
                       {.name = "100,000 prefixes made canonical", .ours = [] { return canonical(kMany); }}},
          .growth = {{.name = "n addresses parsed", .least = 50'000, .expected = 1, .work = parse},
                     {.name = "n addresses formatted", .least = 50'000, .expected = 1, .work = format}}};
}

}  // namespace bench
