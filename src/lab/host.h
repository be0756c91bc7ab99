#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "lab/process.h"
#include "lab/wiring.h"
#include "net/address.h"

namespace lab {

// A machine of a world: a network namespace with a name, under which `ip netns exec NAME` finds it, and the programs
// that run in it. Made and owned by World. One thread at a time.
class Host {
 public:
  // A new namespace with loopback up, nothing else in it, and settings that do not depend on the machine's: no
  // forwarding, no reverse path filter, no IPv6 autoconfiguration or duplicate address detection.
  static base::Result<std::unique_ptr<Host>> make(const std::string& name);
  // The caller's own namespace, as it is.
  static base::Result<std::unique_ptr<Host>> here();

  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();  // Kills the programs; the namespace goes when nobody holds it.

  const std::string& name() const { return name_; }
  int network() const { return network_.get(); }  // For Command::network and setns().

  // Does `work` on a thread inside the namespace, and waits for it: sockets it opens belong there.
  base::Status within(const std::function<base::Status()>& work) const;

  // A program inside the namespace. It is killed with the host, before any link is removed.
  base::Result<Process*> start(Command command);
  void kill_programs() { processes_.clear(); }

  base::Status set_sysctl(std::string_view name, std::string_view value);  // "net/ipv4/ip_forward"
  base::Status forward_packets();                                          // Be a router, in both families.
  base::Status add_address(std::string_view link, const InterfaceAddress& address) {
    return lab::add_address(rtnl_, link, address);
  }
  base::Status add_route(const WorldRoute& route) { return lab::add_route(rtnl_, route); }
  base::Result<PacketCount> count_packets(std::string_view link) { return lab::count_packets(rtnl_, link); }

  kernel::Socket& rtnl() { return rtnl_; }  // A socket inside the namespace.

 private:
  Host(std::string name, base::Fd network, kernel::Socket rtnl)
      : name_(std::move(name)), network_(std::move(network)), rtnl_(std::move(rtnl)) {}

  std::string name_;
  base::Fd network_;
  kernel::Socket rtnl_;
  std::list<Process> processes_;
  bool named_ = false;
};

}  // namespace lab
