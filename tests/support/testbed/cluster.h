#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "testbed/http.h"
#include "testbed/part.h"
#include "testbed/pki.h"
#include "testbed/temp_folder.h"

namespace testbed {

struct ClusterOptions {
  bool controller_manager = false;  // Garbage collection, service accounts of new namespaces, DaemonSets.
  bool scheduler = false;
  std::vector<std::string> api_server_flags = {};
  std::vector<std::string> controller_manager_flags = {};
};

// Who a client is: a client certificate or a bearer token.
struct Credentials {
  Certificate certificate = {};
  std::string token = {};
};

// A real control plane: etcd and kube-apiserver, on request kube-controller-manager and kube-scheduler, each a process
// of its own, with a data folder, ports, authority and certificates of their own. Anonymous access is off, RBAC on,
// dual stack; every request is in the audit log. It lives in the sandbox and dies with it.
//
// It listens on loopback and on a bridge made for it (`bridge()`, `address()`), where a node's network namespace is
// plugged in. When a test fails, the end of every log is printed. One cluster may serve many tests; they then use
// names of their own. One thread at a time.
class Cluster {
 public:
  static base::Result<std::unique_ptr<Cluster>> start(ClusterOptions options = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::string url() const { return url_of(api_port_); }  // On the bridge: good here and on every node.
  std::uint16_t port() const { return api_port_; }
  const std::string& bridge() const { return bridge_; }
  const net::Address& address() const { return address_; }           // 172.30.77.1, in a /24.
  const net::Address& address6() const { return address6_; }         // fd00:172:30:77::1, in a /64.
  const std::filesystem::path& program() const { return program_; }  // Every Kubernetes program, by its first argument.
  std::filesystem::path authority_file() const { return folder_ / "ca.crt"; }
  std::filesystem::path audit_log() const { return folder_ / "audit.log"; }

  // Identities. The groups of a user are taken from its certificate; "system:masters" may do everything.
  Credentials user(std::string_view name, const std::vector<std::string>& groups = {}) const;
  // A token by TokenRequest, bound to a Pod if one is named: it then carries the Pod's node, and dies with the Pod.
  base::Result<Credentials> service_account(const std::string& name_space, const std::string& name,
                                            const std::string& bound_pod = {});
  // One that the server has not given out, signed with its key: it knows none that lasts less than ten minutes. Its
  // validator allows for clocks that differ by a minute, which `lifetime` includes.
  base::Result<Credentials> service_account_for(const std::string& name_space, const std::string& name,
                                                std::chrono::seconds lifetime);

  // A kubeconfig with everything inside; `url` may point to a proxy or to another API server.
  std::filesystem::path kubeconfig(const Credentials& credentials, std::string url = {});
  const std::filesystem::path& admin_kubeconfig() const { return admin_kubeconfig_; }

  // What the real kubectl prints; its error text if it fails. As the administrator unless another kubeconfig is given.
  base::Result<std::string> kubectl(std::vector<std::string> arguments, std::string input = {},
                                    const std::filesystem::path& kubeconfig = {});

  // Faults.
  Part& etcd() { return part("etcd"); }
  Part& api_server() { return part("kube-apiserver"); }
  Part& controller_manager() { return part("kube-controller-manager"); }
  Part& scheduler() { return part("kube-scheduler"); }

  struct SecondApiServer {
    Part* part;
    std::string url;
    std::uint16_t port;
  };
  // On the same etcd, or on one that it reaches through another port (a Relay's); ready on return.
  base::Result<SecondApiServer> add_api_server(std::uint16_t etcd_port = 0);
  std::uint16_t etcd_port() const { return etcd_port_; }

  // Forgets all history in etcd. The API server's cache still has some, until it restarts: only then is an old
  // resourceVersion answered with 410.
  base::Status compact();

  // What etcd holds now, to be brought back later: a cluster restored from a backup. Servers are down meanwhile.
  base::Status save_storage();
  base::Status restore_storage();

 private:
  explicit Cluster(std::filesystem::path program);

  base::Status lay_bridge();
  base::Status write_files();
  Part& part(std::string_view name);
  Part& add_part(std::string name, std::vector<std::string> flags, std::function<bool()> ready);
  Part& add_etcd();
  Part& add_api_server_part(std::string name, std::uint16_t port, const std::vector<std::string>& more_flags);
  Part& add_controller_manager(const std::vector<std::string>& more_flags);
  Part& add_scheduler();
  Endpoint endpoint_of(std::uint16_t port) const;
  std::string url_of(std::uint16_t port) const;
  bool api_ready(std::uint16_t port) const;
  std::string file(const char* name) const { return (folder_ / name).native(); }

  TempFolder folder_;
  std::filesystem::path program_;
  std::string bridge_;
  net::Address address_;
  net::Address address6_;
  Authority authority_;
  std::uint16_t etcd_port_;
  std::uint16_t api_port_;
  std::filesystem::path admin_kubeconfig_;
  int kubeconfigs_ = 0;
  std::list<Part> parts_;  // In the order of their start; pointers to them stay good.
  class LogPrinter;
  LogPrinter* printer_ = nullptr;
};

// The cluster that all tests of a program share, without a controller manager; started by the first that asks. Ends
// the program if it cannot be started, for no test could run then.
Cluster& shared_cluster();

// A port nobody in the sandbox uses, below those the kernel gives to outgoing connections. Never the same twice.
std::uint16_t free_port();

}  // namespace testbed
