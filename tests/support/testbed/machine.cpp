#include "testbed/machine.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string>

#include "kernel/netlink/socket.h"
#include "testbed/process.h"

namespace testbed {
namespace {

constexpr auto kBound = std::chrono::seconds(30);

// Asks for a link without the details its kind needs: a kernel that knows the kind complains about those. What it
// creates anyway (a dummy needs nothing) is removed.
bool knows_link_kind(std::string_view kind) {
  auto rtnl = kernel::Socket::open(kernel::Bus::route);
  if (!rtnl) return false;
  kernel::Message add(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  add.put_text(IFLA_IFNAME, "machine-probe");
  add.put_nested(IFLA_LINKINFO, [&] { add.put_text(IFLA_INFO_KIND, kind); });
  const base::Status added = rtnl->transact(std::move(add));
  if (!added) return added.error().errno_value() != EOPNOTSUPP;
  kernel::Message remove(RTM_DELLINK, 0, ifinfomsg{});
  remove.put_text(IFLA_IFNAME, "machine-probe");
  (void)rtnl->transact(std::move(remove));
  return true;
}

bool succeeds(std::vector<std::string> arguments) {
  const auto done = run({.arguments = std::move(arguments)}, kBound);
  return done && done->exit.ok();
}

}  // namespace

bool machine_has(std::string_view feature) {
  if (feature == "bond" || feature == "dummy" || feature == "vlan" || feature == "vrf") return knows_link_kind(feature);
  if (feature == "nftables") return succeeds({"nft", "list", "ruleset"});
  if (feature == "nftables-inet") return succeeds({"nft", "--check", "add table inet machine-probe"});
  if (feature == "user-namespaces") return succeeds({"unshare", "--user", "true"});
  if (feature == "cgroup-v1") return std::filesystem::exists("/sys/fs/cgroup/cpuset/cpuset.cpus");
  if (feature == "user-mode-linux") return succeeds({"linux.uml", "--version"});
  std::fprintf(stderr, "machine_has: unknown feature %s\n", std::string(feature).c_str());
  std::abort();
}

}  // namespace testbed
