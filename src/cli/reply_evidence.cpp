#include "cli/reply_evidence.h"

#include <algorithm>

#include <fmt/format.h>

namespace cli {
namespace {

using api::SourceMode;

ReplySource source_of(const Frontend& frontend, const kernel::Answerers& answerers) {
  const auto most = std::ranges::max_element(answerers, {}, [](const auto& entry) { return entry.second; });
  ReplySource out{.vip = frontend.vip, .source = most->first, .endpoints = answerers.size()};
  for (const auto& [answerer, flows] : answerers) out.flows += flows;
  if (out.source == frontend.vip) {
    out.bears = ReplyBears::load_balancer;
  } else if (std::ranges::find(frontend.cluster_ips, out.source) != frontend.cluster_ips.end()) {
    out.bears = ReplyBears::cluster_ip;
  }
  return out;
}

}  // namespace

// In all three the kernel follows the connection, so that Reply knows it by its original destination.
bool meets(SourceMode mode, ReplyBears bears) {
  switch (mode) {
    case SourceMode::reply:
      return true;
    case SourceMode::cluster_ip:
      return bears == ReplyBears::cluster_ip;
    case SourceMode::load_balancer_ip:
      return bears == ReplyBears::load_balancer;
    case SourceMode::endpoints:
    case SourceMode::local_endpoints:
      return bears == ReplyBears::endpoint;
  }
  return false;
}

std::string text(const ReplySource& seen) {
  return fmt::format("{} flow{} to {}: routed with source {}{}, original destination {}", seen.flows,
                     seen.flows == 1 ? "" : "s", seen.vip.text(), seen.source.text(),
                     seen.endpoints > 1 ? fmt::format(" and {} more", seen.endpoints - 1) : "", seen.vip.text());
}

ReplyEvidence weigh(const std::vector<Frontend>& frontends,
                    const std::map<net::Address, kernel::Answerers>& answerers) {
  ReplyEvidence out;
  for (const Frontend& frontend : frontends) {
    const auto found = answerers.find(frontend.vip);
    if (found != answerers.end() && !found->second.empty()) out.seen.push_back(source_of(frontend, found->second));
  }
  std::ranges::stable_sort(out.seen, std::ranges::greater(), &ReplySource::flows);
  return out;
}

}  // namespace cli
