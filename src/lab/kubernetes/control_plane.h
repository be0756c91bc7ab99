#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/kubernetes/ask.h"
#include "lab/kubernetes/part.h"
#include "lab/kubernetes/pki.h"
#include "lab/temp_folder.h"
#include "net/address.h"

namespace lab {

// Who a client is: a client certificate or a bearer token.
struct Credentials {
  Certificate certificate = {};
  std::string token = {};
};

// A real control plane: etcd and kube-apiserver, each a process of its own, with a data folder, ports, authority and
// certificates of their own. Anonymous access is off, RBAC on, dual stack; every request is in the audit log. It lives
// in the sandbox and dies with it.
//
// It listens on loopback and on a bridge made for it (`bridge()`, `address()`), where a node's network namespace is
// plugged in by join(). One thread at a time.
class ControlPlane {
 public:
  // Ready on return. `program` is every Kubernetes program, by its first argument.
  static base::Result<std::unique_ptr<ControlPlane>> start(std::filesystem::path program);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  std::string url() const { return url_of(api_port_); }  // On the bridge: good here and on every node.
  std::uint16_t port() const { return api_port_; }
  std::uint16_t etcd_port() const { return etcd_port_; }
  const std::string& bridge() const { return bridge_; }
  const net::Address& address() const { return address_; }    // 172.30.77.1, in a /24.
  const net::Address& address6() const { return address6_; }  // fd00:172:30:77::1, in a /64.
  const std::filesystem::path& program() const { return program_; }
  std::filesystem::path authority_file() const { return folder_ / "ca.crt"; }
  std::filesystem::path audit_log() const { return folder_ / "audit.log"; }

  // Identities. The groups of a user are taken from its certificate; "system:masters" may do everything.
  Credentials user(std::string_view name, const std::vector<std::string>& groups = {}) const;
  // A token by TokenRequest, bound to a Pod if one is named: it then carries the Pod's node, and dies with the Pod.
  base::Result<Credentials> service_account(const std::string& name_space, const std::string& name,
                                            const std::string& bound_pod = {});

  // A kubeconfig with everything inside; `url` may point to a proxy or to another API server.
  base::Result<std::filesystem::path> write_kubeconfig(const Credentials& credentials, std::string url = {});
  const std::filesystem::path& admin_kubeconfig() const { return admin_kubeconfig_; }

  // What the real kubectl prints; its error text if it fails. As the administrator unless another kubeconfig is given.
  base::Result<std::string> kubectl(std::vector<std::string> arguments, std::string input = {},
                                    const std::filesystem::path& kubeconfig = {});

 protected:
  explicit ControlPlane(std::filesystem::path program);
  base::Status begin(const std::vector<std::string>& api_server_flags);  // Ready on return.

  Part& part(std::string_view name);
  Part& add_part(std::string name, std::vector<std::string> flags, std::function<bool()> ready);
  Part& add_api_server_part(std::string name, std::uint16_t port, const std::vector<std::string>& more_flags);
  const std::list<Part>& parts() const { return parts_; }
  Endpoint endpoint_of(std::uint16_t port) const;
  std::string url_of(std::uint16_t port) const;
  std::string file(const char* name) const { return (folder_ / name).native(); }

  static constexpr const char* kIssuer = "https://kubernetes.default.svc";  // Of tokens.

 private:
  base::Status lay_bridge();
  base::Status write_files();
  Part& add_etcd();
  bool api_ready(std::uint16_t port) const;

  TempFolder folder_;
  std::filesystem::path program_;
  std::string bridge_;
  bool bridge_laid_ = false;  // By us.
  net::Address address_;
  net::Address address6_;
  Authority authority_;
  std::uint16_t etcd_port_;
  std::uint16_t api_port_;
  std::filesystem::path admin_kubeconfig_;
  int kubeconfigs_ = 0;
  std::list<Part> parts_;  // In the order of their start; pointers to them stay good.
};

}  // namespace lab
