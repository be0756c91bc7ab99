#include "lab/service_proxy.h"

#include <utility>

#include <fmt/format.h>

#include "kernel/observe.h"
#include "kernel/rtnl/rule.h"
#include "lab/nft_commands.h"

namespace lab {
namespace {

constexpr std::uint8_t kMadeByKernel = 2;  // RTPROT_KERNEL

std::string translation(const SceneNode& node, net::Family family) {
  const std::string_view ip = family == net::Family::v4 ? "ip" : "ip6";
  return fmt::format(
      "add table {0} kube-proxy\n"
      "flush table {0} kube-proxy\n"
      "add chain {0} kube-proxy services {{ type nat hook prerouting priority -100; }}\n"
      "add rule {0} kube-proxy services {0} daddr {1} dnat to {2}\n",
      ip, of_family(node.vip, family).text(), of_family(node.pod_address, family).text());
}

}  // namespace

base::Status translate_vips(const SceneNode& node) {
  return node.host->within(
      [&] { return run_nft(translation(node, net::Family::v4) + translation(node, net::Family::v6)); });
}

base::Status flush_ruleset(const SceneNode& node) {
  return node.host->within([] { return run_nft("flush ruleset\n"); });
}

base::Status flush_rules(const SceneNode& node) {
  return node.host->within([]() -> base::Status {
    auto socket = TRY(kernel::Socket::open(kernel::Bus::route));
    const auto seen = TRY(kernel::observe(socket, {}));
    for (const state::Rule& rule : state::state_of(seen).rules) {
      if (rule.protocol == kMadeByKernel) continue;
      auto request = TRY(kernel::rtnl::encode_remove(rule));
      TRY(socket.transact(std::move(request)));
    }
    return {};
  });
}

}  // namespace lab
