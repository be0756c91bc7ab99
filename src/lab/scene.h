#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/host.h"
#include "lab/responder.h"
#include "lab/tap.h"
#include "lab/world.h"
#include "net/address.h"

namespace lab {

using AddressPair = std::array<net::Address, 2>;  // IPv4, IPv6

inline const net::Address& of_family(const AddressPair& pair, net::Family family) {
  return pair.at(family == net::Family::v4 ? 0 : 1);
}

// A node with two uplinks. eth0 leads to gateway A and is where main's default route points; eth1 leads to gateway B,
// the default of table 100. Behind the node is a pod of one Service. Gateway B sends what is for the Service's
// addresses of either sort to the node.
struct SceneNode {
  std::string name;  // "worker-1"
  Host* host = nullptr;
  Host* pod = nullptr;
  AddressPair service;      // The Service's ClusterIPs. The pod holds them too, so that no service proxy is needed.
  AddressPair vip;          // Its load balancer addresses. Nobody holds them: a service proxy must translate them.
  AddressPair pod_address;  // What it translates them to.
};

// Packets, or connections, by uplink.
struct UplinkCount {
  int eth0 = 0;
  int eth1 = 0;

  int total() const { return eth0 + eth1; }
  bool operator==(const UplinkCount&) const = default;
};

// What was seen at the gateways while the client talked to a Service.
struct Tally {
  int requests = 0;
  UplinkCount requests_in;
  UplinkCount replies_out;
  int answered = 0;  // Replies that reached the client.
};

// The example world of the documents: nodes with two uplinks, a client beyond gateway B, and one Service per node
// whose requests come in through B. Replies leave by A until something makes it right: gateway A drops them, as a
// firewall that never saw the request.
//
//     client ---- gateway-b ---- eth1 worker-N eth0 ---- gateway-a
//   198.18.7.9   198.51.100.1          |               10.0.0.1
//                                    pod-N  10.244.N.7, 10.96.23.(16+N)
class Scene {
 public:
  static constexpr std::uint32_t kTable = 100;

  static base::Result<std::unique_ptr<Scene>> build(World& world, int nodes = 1);

  std::vector<SceneNode>& nodes() { return nodes_; }
  Host& client() { return *client_; }

  // Sends real requests from the client to an address of the node's Service, and counts them and their replies at the
  // gateways. Waits until the pod has answered every request, at most `bound`.
  base::Result<Tally> send_requests(const SceneNode& node, const net::Address& target, int requests,
                                    std::chrono::milliseconds bound = std::chrono::seconds(10));

  // The same over TCP, each request a connection of its own. Connections are counted, not packets: what is sent again
  // because nobody answered counts once.
  base::Result<Tally> open_connections(const SceneNode& node, const net::Address& target, int connections,
                                       std::chrono::milliseconds bound = std::chrono::seconds(10));

  // The address of the client.
  static net::Address client_address(net::Family family);
  Host& gateway_a() { return *gateway_a_; }
  Host& gateway_b() { return *gateway_b_; }

  // The defaults of table 100, which a link that goes down takes along.
  static base::Status lay_uplink_b(const SceneNode& node);

 private:
  explicit Scene(World& world) : world_(world) {}

  base::Status build_gateways();
  base::Status build_node(int number);
  base::Status build_pod(const SceneNode& node, int number);
  base::Status lay_routes(const SceneNode& node, int number);
  base::Status start_responder();
  std::uint16_t fresh_port();

  World& world_;
  Host* gateway_a_ = nullptr;
  Host* gateway_b_ = nullptr;
  Host* client_ = nullptr;
  std::vector<SceneNode> nodes_;
  std::optional<Responder> responder_;
  std::uint16_t next_port_ = 0;
};

}  // namespace lab
