#include "lab/host.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sched.h>
#include <sys/mount.h>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "lab/isolation.h"

namespace lab {
namespace {

constexpr const char* kOwnNamespace = "/proc/thread-self/ns/net";

std::filesystem::path mount_point(const std::string& name) {
  return std::filesystem::path("/run/netns") / name;
}

base::Result<base::Fd> open_namespace() {
  base::Fd fd(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  if (!fd) return base::fail_errno("open the network namespace", errno);
  return fd;
}

// Names are file names, and `ip netns` reads them too.
base::Status check_name(const std::string& name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (name.empty() || name.size() > 63 || name.find_first_not_of(kAllowed) != std::string::npos)
    return base::fail(base::Fault::invalid, fmt::format("host name \"{}\": use up to 63 of a-z, 0-9 and -", name));
  return {};
}

base::Status publish_name(const std::string& name) {
  const std::filesystem::path path = mount_point(name);
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  if (!file) return base::fail_errno(fmt::format("create {}", path.native()), errno);
  if (::mount(kOwnNamespace, path.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return base::fail_errno(fmt::format("mount {}", path.native()), errno);
  return {};
}

// A new namespace copies some settings from the machine's first one; here all start the same everywhere.
base::Status settle() {
  for (const char* zero :
       {"ipv4/ip_forward", "ipv4/conf/all/rp_filter", "ipv4/conf/default/rp_filter", "ipv6/conf/all/forwarding",
        "ipv6/conf/default/accept_ra", "ipv6/conf/default/accept_dad", "ipv6/conf/all/accept_dad"})
    TRY(base::write_file(fmt::format("/proc/sys/net/{}", zero), "0"));
  return raise_loopback();
}

// Only a thread can change its network namespace without taking the whole process along.
base::Status on_a_thread(const std::function<base::Status()>& work) {
  base::Status status;
  std::thread([&] { status = work(); }).join();
  return status;
}

}  // namespace

base::Result<std::unique_ptr<Host>> Host::make(const std::string& name) {
  TRY(check_name(name));
  std::optional<base::Fd> network;
  std::optional<kernel::Socket> rtnl;
  const auto found = [&]() -> base::Status {
    if (::unshare(CLONE_NEWNET) != 0) return base::fail_errno("new network namespace", errno);
    network = TRY(open_namespace());
    rtnl = TRY(kernel::Socket::open(kernel::Bus::route));
    TRY(settle());
    return publish_name(name);
  };
  TRY(base::within(fmt::format("host {}", name), on_a_thread(found)));
  std::unique_ptr<Host> host(new Host(name, *std::move(network), *std::move(rtnl)));
  host->named_ = true;
  return host;
}

base::Result<std::unique_ptr<Host>> Host::here() {
  base::Fd network = TRY(open_namespace());
  kernel::Socket rtnl = TRY(kernel::Socket::open(kernel::Bus::route));
  return std::unique_ptr<Host>(new Host("here", std::move(network), std::move(rtnl)));
}

Host::~Host() {
  kill_programs();
  if (!named_) return;
  const std::filesystem::path path = mount_point(name_);
  (void)::umount2(path.c_str(), MNT_DETACH);
  std::error_code ignored;  // An empty file may stay: the sandbox's /run goes with it.
  std::filesystem::remove(path, ignored);
}

base::Status Host::within(const std::function<base::Status()>& work) const {
  return on_a_thread([&]() -> base::Status {
    if (::setns(network(), CLONE_NEWNET) != 0) return base::fail_errno(fmt::format("enter host {}", name_), errno);
    return work();
  });
}

base::Result<Process*> Host::start(Command command) {
  command.network = network();
  processes_.push_back(TRY(base::within(fmt::format("host {}", name_), Process::start(command))));
  return &processes_.back();
}

base::Status Host::set_sysctl(std::string_view name, std::string_view value) {
  return within([&] { return base::write_file(fmt::format("/proc/sys/{}", name), value); });
}

base::Status Host::forward_packets() {
  TRY(set_sysctl("net/ipv4/ip_forward", "1"));
  return set_sysctl("net/ipv6/conf/all/forwarding", "1");
}

}  // namespace lab
