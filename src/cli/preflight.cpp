#include "cli/preflight.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/service.h"
#include "cli/gaps.h"
#include "cli/source_modes.h"
#include "json/writer.h"
#include "json/yaml.h"

namespace cli {
namespace {

using state::ServiceProxy;

// Those that say who translates Service addresses.
constexpr std::array<std::string_view, 3> kKnown = {"kube-proxy", "cilium", "ovnkube-node"};

// `mode` of kube-proxy's configuration; where it names none, kube-proxy takes iptables.
base::Result<std::string> proxy_mode(const std::string& config) {
  const auto documents = TRY(json::from_yaml(config));
  if (documents.empty()) return "";
  json::Reader reader;
  const auto root = TRY(reader.parse(documents.front()));
  return std::string(TRY(root["mode"].string_or("")));
}

struct Likelihood {
  std::string level;
  std::string subject;
  std::string text;
};

std::vector<Likelihood> lines_of(const ClusterSetup& setup, const LikelyProxy& likely) {
  std::vector<Likelihood> out;
  out.push_back({setup.nodes > 0 ? "ok" : "?", "nodes",
                 fmt::format("{}{}", setup.nodes,
                             setup.kernels.empty() ? "" : fmt::format(", kernel {}", fmt::join(setup.kernels, ", ")))});
  const bool known = likely.proxy != ServiceProxy::unknown;
  out.push_back({known ? "ok" : "?", "service proxy",
                 !known ? likely.sign
                 : likely.proxy == ServiceProxy::none
                     ? fmt::format("likely an eBPF data path ({})", likely.sign)
                     : fmt::format("likely kube-proxy {} ({})", state::text(likely.proxy), likely.sign)});
  out.push_back({setup.with_address > 0 ? "ok" : "?", "Services",
                 fmt::format("{} of {} have a load balancer's address", setup.with_address, setup.services)});
  out.push_back({"ok", "installed", setup.is_installed ? "yes: `iprulectl doctor` knows more" : "nothing of ours yet"});
  return out;
}

}  // namespace

base::Status add_nodes(ClusterSetup& setup, const json::Value& list) {
  const auto items = TRY(list["items"].items_or_none());
  for (const json::Value& item : items) {
    ++setup.nodes;
    const auto kernel = TRY(item["status"]["nodeInfo"]["kernelVersion"].string_or(""));
    if (!kernel.empty()) setup.kernels.emplace(kernel);
  }
  return {};
}

base::Status add_daemonsets(ClusterSetup& setup, const json::Value& list) {
  const auto items = TRY(list["items"].items_or_none());
  for (const json::Value& item : items) {
    const auto name = TRY(item["metadata"]["name"].string_or(""));
    if (std::ranges::find(kKnown, name) == kKnown.end()) continue;
    setup.daemonsets.emplace(name, TRY(item["metadata"]["namespace"].string_or("")));
  }
  return {};
}

base::Status add_services(ClusterSetup& setup, const json::Value& list) {
  const auto items = TRY(list["items"].items_or_none());
  for (const json::Value& item : items) {
    const auto service = TRY(api::decode_service(item.as_root()));
    ++setup.services;
    if (!service.vips.empty()) ++setup.with_address;
  }
  return {};
}

LikelyProxy likely_proxy(const ClusterSetup& setup) {
  const bool kube_proxy = setup.daemonsets.contains("kube-proxy") || !setup.proxy_config.empty();
  if (kube_proxy) {
    const auto mode = proxy_mode(setup.proxy_config);
    if (!mode) return {.proxy = ServiceProxy::unknown, .sign = "ConfigMap kube-proxy: " + mode.error().message()};
    const auto proxy = *mode == "nftables" ? ServiceProxy::nftables
                       : *mode == "ipvs"   ? ServiceProxy::ipvs
                                           : ServiceProxy::iptables;
    return {.proxy = proxy,
            .sign = mode->empty() ? "kube-proxy runs and names no other mode" : "mode of ConfigMap kube-proxy"};
  }
  for (const auto& [name, ns] : setup.daemonsets) {
    return {.proxy = ServiceProxy::none, .sign = fmt::format("DaemonSet {}/{}, and no kube-proxy", ns, name)};
  }
  return {.proxy = ServiceProxy::unknown, .sign = "no kube-proxy and none of the networks that we know"};
}

Answer show_preflight(const ClusterSetup& setup) {
  Answer answer;
  const LikelyProxy likely = likely_proxy(setup);
  const SourceModes modes = source_modes({.proxy = likely.proxy, .cilium = setup.daemonsets.contains("cilium")});
  const auto lines = lines_of(setup, likely);
  Table table(2);
  for (const Likelihood& line : lines) {
    table.row({{line.level, line.level == "ok" ? Tone::good : Tone::faint}, line.subject, line.text});
  }
  table.print(answer.page);
  if (modes.works.empty()) {
    answer.page.line("Which source modes work cannot be told from here: `iprulectl doctor --local` on a node can.");
  } else {
    answer.page.line("Likely to work: {}.{}", works_text(modes),
                     modes.fails.empty() ? "" : fmt::format("  Likely not: {}.", fails_text(modes)));
  }
  answer.page.line("No kernel was asked. Once agents run, `iprulectl doctor` tells by what nodes show.");
  add_gaps(answer, setup.gaps);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "Preflight");
    out.put("nodes", setup.nodes);
    out.put("likelyServiceProxy", state::text(likely.proxy));
    out.put("sign", likely.sign);
    out.put("likelyMode", modes.recommended ? text(*modes.recommended) : std::string_view());
    out.put("installed", setup.is_installed);
    put_gaps(out, setup.gaps);
  });
  return answer;
}

}  // namespace cli
