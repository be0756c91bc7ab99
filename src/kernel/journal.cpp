#include "kernel/journal.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/journal_file.h"

namespace kernel {
namespace {

constexpr JournalFormat kFormat{.name = "iprule-claims", .version = 1};

Claims sorted(Claims claims) {
  std::ranges::sort(claims.routes);
  std::ranges::sort(claims.addresses);
  return claims;
}

base::Status parse_line(Claims& claims, std::string_view line) {
  const std::string_view kind = line.substr(0, line.find(' '));
  const std::string_view rest = line.substr(std::min(line.size(), kind.size() + 1));
  if (kind == "route4") {
    claims.routes.push_back(TRY(state::parse_route(net::Family::v4, rest)));
  } else if (kind == "route6") {
    claims.routes.push_back(TRY(state::parse_route(net::Family::v6, rest)));
  } else if (kind == "address") {
    claims.addresses.push_back(TRY(state::parse_address(rest)));
  } else {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is no kind of claim", kind));
  }
  return {};
}

}  // namespace

std::string format_claims(const Claims& claims) {
  std::string out;
  const auto into = std::back_inserter(out);
  const Claims all = sorted(claims);
  for (const state::Route& route : all.routes) {
    fmt::format_to(into, "{} {}\n", route.family == net::Family::v4 ? "route4" : "route6", text(route));
  }
  for (const state::InterfaceAddress& address : all.addresses) fmt::format_to(into, "address {}\n", text(address));
  return out;
}

base::Result<Claims> parse_claims(std::string_view text) {
  Claims out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    TRY(parse_line(out, line));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return sorted(std::move(out));
}

base::Result<Journal> Journal::open(std::filesystem::path path, std::string boot) {
  Journal out(std::move(path), std::move(boot));
  const auto contents = TRY(read_journal_file(out.path_, kFormat, out.boot_));
  if (contents) out.claims_ = TRY(parse_claims(*contents));
  return out;
}

base::Status Journal::set(Claims claims) {
  claims = sorted(std::move(claims));
  if (claims == claims_) return {};
  TRY(write_journal_file(path_, kFormat, boot_, format_claims(claims)));
  claims_ = std::move(claims);
  return {};
}

}  // namespace kernel
