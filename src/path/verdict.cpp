#include "path/verdict.h"

#include <algorithm>

#include <fmt/format.h>

namespace path {
namespace {

std::string text(const state::RouteHop& hop) {
  return hop.via ? fmt::format("{} via {}", hop.dev.text(), hop.via->text()) : std::string(hop.dev.text());
}

}  // namespace

std::string text(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::leaves: {
      std::string out = "leaves by ";
      for (std::size_t i = 0; i < verdict.hops.size(); ++i) out += (i == 0 ? "" : " or ") + text(verdict.hops[i]);
      return out;
    }
    case Verdict::Kind::delivered:
      return "is delivered on this host";
    case Verdict::Kind::broadcast:
      return "is a broadcast";
    case Verdict::Kind::anycast:
      return "is delivered on this host (anycast)";
    case Verdict::Kind::multicast:
      return "is a multicast";
    case Verdict::Kind::dropped:
      return "is dropped without a word (blackhole)";
    case Verdict::Kind::prohibited:
      return "is refused as prohibited";
    case Verdict::Kind::unreachable:
      return "has no route";
  }
  return "";
}

bool agree(const Verdict& walked, const Verdict& kernel) {
  if (walked.kind != kernel.kind) return false;
  if (walked.kind != Verdict::Kind::leaves) return true;
  return std::ranges::any_of(walked.hops, [&](const state::RouteHop& hop) {
    return !kernel.hops.empty() && hop.dev == kernel.hops.front().dev && hop.via == kernel.hops.front().via;
  });
}

}  // namespace path
