#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lab/free_port.h"
#include "lab/kubernetes/control_plane.h"
#include "testbed/http.h"

namespace testbed {

using lab::Credentials;
using lab::free_port;
using lab::Part;

struct ClusterOptions {
  bool controller_manager = false;  // Garbage collection, service accounts of new namespaces, DaemonSets.
  bool scheduler = false;
  std::vector<std::string> api_server_flags = {};
  std::vector<std::string> controller_manager_flags = {};
};

// The control plane as tests need it: on request with kube-controller-manager and kube-scheduler, and with faults. When
// a test fails, the end of every log is printed. One cluster may serve many tests; they then use names of their own.
class Cluster : public lab::ControlPlane {
 public:
  static base::Result<std::unique_ptr<Cluster>> start(ClusterOptions options = {});
  ~Cluster();

  // A token that the server has not given out, signed with its key: it knows none that lasts less than ten minutes. Its
  // validator allows for clocks that differ by a minute, which `lifetime` includes.
  base::Result<Credentials> service_account_for(const std::string& name_space, const std::string& name,
                                                std::chrono::seconds lifetime);

  // As write_kubeconfig(); a failure of the test where that fails.
  std::filesystem::path kubeconfig(const Credentials& credentials, std::string url = {});

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
  base::Result<SecondApiServer> add_api_server(std::uint16_t etcd_port = 0, std::vector<std::string> more_flags = {});

  // Forgets all history in etcd. The API server's cache still has some, until it restarts: only then is an old
  // resourceVersion answered with 410.
  base::Status compact();

  // What etcd holds now, to be brought back later: a cluster restored from a backup. Servers are down meanwhile.
  base::Status save_storage();
  base::Status restore_storage();

 private:
  explicit Cluster(std::filesystem::path program) : ControlPlane(std::move(program)) {}

  Part& add_controller_manager(const std::vector<std::string>& more_flags);
  Part& add_scheduler();

  class LogPrinter;
  LogPrinter* printer_ = nullptr;
};

// The cluster that all tests of a program share, without a controller manager; started by the first that asks. Ends
// the program if it cannot be started, for no test could run then.
Cluster& shared_cluster();

}  // namespace testbed
