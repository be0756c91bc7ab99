#include "lab/scene.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <set>
#include <string_view>
#include <sys/socket.h>

#include <fmt/format.h>

#include "net/prefix.h"

namespace lab {
namespace {

using std::chrono::steady_clock;

net::Address address(std::string_view text) {
  return net::Address::parse(text).value();  // Only for the addresses written below.
}

net::Prefix everything(net::Family family) {
  return {family == net::Family::v4 ? net::Address() : address("::"), 0};
}

base::Status add_addresses(Host& host, std::string_view link, std::initializer_list<std::string> addresses) {
  for (const std::string& text : addresses) TRY(host.add_address(link, InterfaceAddress::of(text)));
  return {};
}

base::Status add_defaults(Host& host, std::string_view link, std::uint32_t table,
                          std::initializer_list<std::string_view> gateways) {
  for (const std::string_view text : gateways) {
    const net::Address gateway = address(text);
    TRY(host.add_route(
        {.destination = everything(gateway.family()), .gateway = gateway, .link = link, .table = table}));
  }
  return {};
}

SceneNode plan_node(int number) {
  return {
      .name = fmt::format("worker-{}", number),
      .service = {address(fmt::format("10.96.23.{}", 16 + number)),
                  address(fmt::format("fd00:10:96::23{}", 16 + number))},
      .vip = {address(fmt::format("203.0.113.{}", 44 + number)), address(fmt::format("2001:db8:113::{}", 44 + number))},
      .pod_address = {address(fmt::format("10.244.{}.7", number)), address(fmt::format("fd00:10:244:{}::7", number))}};
}

// The two taps of a node: what its uplinks carry, seen from the gateways.
struct Watch {
  Tap eth0;
  Tap eth1;
  net::Address client;
  net::Address service;

  base::Status update(Tally& tally) {
    TRY(count(eth0, tally.requests_in.eth0, tally.replies_out.eth0));
    return count(eth1, tally.requests_in.eth1, tally.replies_out.eth1);
  }

  base::Status count(Tap& tap, int& requests, int& replies) const {
    for (const Tap::Packet& packet : TRY(tap.take())) {
      if (packet.outgoing && packet.source == client && packet.destination == service) ++requests;
      if (!packet.outgoing && packet.source == service && packet.destination == client) ++replies;
    }
    return {};
  }
};

int count_answers(const base::Fd& socket) {
  int answers = 0;
  char byte = 0;
  while (::recv(socket.get(), &byte, 1, 0) >= 0) ++answers;
  return answers;
}

// Sleeps until one of them has something to read, at most until `deadline`.
void wait_for_packets(const Watch& watch, const base::Fd& socket, steady_clock::time_point deadline) {
  const auto readable = [](int fd) { return pollfd{.fd = fd, .events = POLLIN, .revents = 0}; };
  std::array waiting{readable(watch.eth0.fd()), readable(watch.eth1.fd()), readable(socket.get())};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  (void)::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(left, 0)));  // The caller looks again.
}

bool complete(const Tally& tally) {
  return tally.replies_out.total() >= tally.requests && tally.answered >= tally.replies_out.eth1;
}

// The connections of one set of client ports, by the uplinks on which packets of them were seen.
class ConnectionWatch {
 public:
  ConnectionWatch(Tap eth0, Tap eth1, std::set<std::uint16_t> ports)
      : eth0_(std::move(eth0)), eth1_(std::move(eth1)), ports_(std::move(ports)) {}

  base::Status update(Tally& tally) {
    TRY(note(eth0_, in0_, out0_));
    TRY(note(eth1_, in1_, out1_));
    tally.requests_in = {.eth0 = static_cast<int>(in0_.size()), .eth1 = static_cast<int>(in1_.size())};
    tally.replies_out = {.eth0 = static_cast<int>(out0_.size()), .eth1 = static_cast<int>(out1_.size())};
    return {};
  }
  std::array<int, 2> fds() const { return {eth0_.fd(), eth1_.fd()}; }

 private:
  base::Status note(Tap& tap, std::set<std::uint16_t>& requests, std::set<std::uint16_t>& replies) const {
    for (const Tap::Packet& packet : TRY(tap.take())) {
      if (packet.outgoing && packet.destination_port == kServicePort && ports_.contains(packet.source_port)) {
        requests.insert(packet.source_port);
      }
      if (!packet.outgoing && packet.source_port == kServicePort && ports_.contains(packet.destination_port)) {
        replies.insert(packet.destination_port);
      }
    }
    return {};
  }

  Tap eth0_;
  Tap eth1_;
  std::set<std::uint16_t> ports_;
  std::set<std::uint16_t> in0_, in1_, out0_, out1_;
};

// A request over one connection, as far as it has come.
struct Conversation {
  base::Fd socket;
  bool asked = false;
  bool answered = false;

  void go_on() {
    char byte = '?';
    if (!asked) asked = ::send(socket.get(), &byte, 1, MSG_NOSIGNAL) == 1;
    if (asked && !answered) answered = ::recv(socket.get(), &byte, 1, 0) == 1;
  }
  short awaits() const { return asked ? POLLIN : POLLOUT; }
};

// Sleeps until a packet was seen or a conversation can go on.
void wait_for_news(const ConnectionWatch& watch, const std::vector<Conversation>& conversations,
                   steady_clock::time_point deadline) {
  std::vector<pollfd> waiting;
  for (const int fd : watch.fds()) waiting.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  for (const Conversation& one : conversations) {
    if (!one.answered) waiting.push_back({.fd = one.socket.get(), .events = one.awaits(), .revents = 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  (void)::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(left, 0)));  // The caller looks again.
}

}  // namespace

net::Address Scene::client_address(net::Family family) {
  return address(family == net::Family::v4 ? "198.18.7.9" : "2001:db8:7::9");
}

base::Result<std::unique_ptr<Scene>> Scene::build(World& world, int nodes) {
  std::unique_ptr<Scene> scene(new Scene(world));
  TRY(scene->build_gateways());
  for (int number = 1; number <= nodes; ++number) TRY(scene->build_node(number));
  TRY(scene->start_responder());
  return scene;
}

base::Status Scene::build_gateways() {
  gateway_a_ = TRY(world_.add_host("gateway-a"));
  gateway_b_ = TRY(world_.add_host("gateway-b"));
  client_ = TRY(world_.add_host("client"));
  for (Host* gateway : {gateway_a_, gateway_b_}) TRY(world_.add_switch(*gateway, "nodes"));
  TRY(add_addresses(*gateway_a_, "nodes", {"10.0.0.1/24", "fd00:a::1/64"}));
  TRY(add_addresses(*gateway_b_, "nodes", {"198.51.100.1/24", "2001:db8:b::1/64"}));
  TRY(gateway_b_->forward_packets());

  TRY(world_.connect(*client_, "eth0", *gateway_b_, "client"));
  TRY(add_addresses(*gateway_b_, "client", {"198.18.7.1/24", "2001:db8:7::1/64"}));
  TRY(add_addresses(*client_, "eth0", {"198.18.7.9/24", "2001:db8:7::9/64"}));
  return add_defaults(*client_, "eth0", 254, {"198.18.7.1", "2001:db8:7::1"});
}

base::Status Scene::build_node(int number) {
  SceneNode node = plan_node(number);
  node.host = TRY(world_.add_host(node.name));
  node.pod = TRY(world_.add_host(fmt::format("pod-{}", number)));
  TRY(node.host->forward_packets());
  TRY(world_.plug(*node.host, "eth0", *gateway_a_, node.name, "nodes"));
  TRY(world_.plug(*node.host, "eth1", *gateway_b_, node.name, "nodes"));
  TRY(node.host->set_sysctl("net/ipv4/conf/eth1/rp_filter", "2"));  // Loose: requests may come in by any uplink.
  // As IPv4 does it: an address outlives its link's going down.
  TRY(node.host->set_sysctl("net/ipv6/conf/eth1/keep_addr_on_down", "1"));
  const int last = 10 + number;
  TRY(add_addresses(*node.host, "eth0", {fmt::format("10.0.0.{}/24", last), fmt::format("fd00:a::{}/64", last)}));
  TRY(add_addresses(*node.host, "eth1",
                    {fmt::format("198.51.100.{}/24", last), fmt::format("2001:db8:b::{}/64", last)}));
  TRY(build_pod(node, number));
  TRY(lay_routes(node, number));
  nodes_.push_back(std::move(node));
  return {};
}

base::Status Scene::build_pod(const SceneNode& node, int number) {
  const std::string& name = node.pod->name();
  const std::string net4 = fmt::format("10.244.{}", number);
  const std::string net6 = fmt::format("fd00:10:244:{}", number);
  TRY(world_.connect(*node.pod, "eth0", *node.host, name));
  TRY(add_addresses(*node.host, name, {net4 + ".1/24", net6 + "::1/64"}));
  TRY(add_addresses(*node.pod, "eth0", {net4 + ".7/24", net6 + "::7/64"}));
  TRY(add_defaults(*node.pod, "eth0", 254, {net4 + ".1", net6 + "::1"}));
  for (const net::Address& service : node.service) {
    TRY(node.pod->add_address("eth0", {.address = service, .length = service.bits()}));
    TRY(node.host->add_route({.destination = net::Prefix::host(service), .link = name}));
  }
  return {};
}

base::Status Scene::lay_routes(const SceneNode& node, int number) {
  TRY(add_defaults(*node.host, "eth0", 254, {"10.0.0.1", "fd00:a::1"}));
  TRY(lay_uplink_b(node));
  const std::array via{fmt::format("198.51.100.{}", 10 + number), fmt::format("2001:db8:b::{}", 10 + number)};
  for (std::size_t family = 0; family < via.size(); ++family) {
    for (const AddressPair& pair : {node.service, node.vip}) {
      TRY(gateway_b_->add_route(
          {.destination = net::Prefix::host(pair.at(family)), .gateway = address(via.at(family)), .link = "nodes"}));
    }
  }
  return {};
}

base::Status Scene::lay_uplink_b(const SceneNode& node) {
  return add_defaults(*node.host, "eth1", kTable, {"198.51.100.1", "2001:db8:b::1"});
}

base::Status Scene::start_responder() {
  std::vector<base::Fd> datagrams;
  std::vector<base::Fd> listeners;
  for (const SceneNode& node : nodes_) {
    for (const AddressPair& pair : {node.service, node.pod_address}) {
      for (const net::Address& own : pair) {
        datagrams.push_back(TRY(bind_udp(*node.pod, own, kServicePort)));
        listeners.push_back(TRY(listen_tcp(*node.pod, own, kServicePort)));
      }
    }
  }
  responder_.emplace(TRY(Responder::start(std::move(datagrams), std::move(listeners))));
  return {};
}

// The client has it for the first time, or for the first time in a long while. A node remembers for minutes that nobody
// translated a connection, and would not translate another with the same port.
std::uint16_t Scene::fresh_port() {
  constexpr std::uint16_t kFirst = 1024;
  next_port_ = std::max(static_cast<std::uint16_t>(next_port_ + 1), kFirst);
  return next_port_;
}

base::Result<Tally> Scene::send_requests(const SceneNode& node, const net::Address& target, int requests,
                                         std::chrono::milliseconds bound) {
  const net::Address client = client_address(target.family());
  Watch watch{.eth0 = TRY(Tap::open(*gateway_a_, node.name)),
              .eth1 = TRY(Tap::open(*gateway_b_, node.name)),
              .client = client,
              .service = target};
  const base::Fd socket = TRY(bind_udp(*client_, client, fresh_port()));
  TRY(connect_udp(socket, target, kServicePort));
  for (int number = 0; number < requests; ++number) {
    if (::send(socket.get(), &number, sizeof number, 0) < 0) return base::fail_errno("send a request", errno);
  }

  Tally tally{.requests = requests, .requests_in = {}, .replies_out = {}, .answered = 0};
  const auto deadline = steady_clock::now() + bound;
  while (true) {
    TRY(watch.update(tally));
    tally.answered += count_answers(socket);
    if (complete(tally) || steady_clock::now() >= deadline) return tally;
    wait_for_packets(watch, socket, deadline);
  }
}

base::Result<Tally> Scene::open_connections(const SceneNode& node, const net::Address& target, int connections,
                                            std::chrono::milliseconds bound) {
  Tap eth0 = TRY(Tap::open(*gateway_a_, node.name));
  Tap eth1 = TRY(Tap::open(*gateway_b_, node.name));
  std::vector<Conversation> conversations;
  std::set<std::uint16_t> ports;
  for (int i = 0; i < connections; ++i) {
    const std::uint16_t port = *ports.insert(fresh_port()).first;
    conversations.push_back(
        {.socket = TRY(connect_tcp(*client_, client_address(target.family()), port, target, kServicePort))});
  }
  ConnectionWatch watch(std::move(eth0), std::move(eth1), std::move(ports));

  Tally tally{.requests = connections, .requests_in = {}, .replies_out = {}, .answered = 0};
  const auto deadline = steady_clock::now() + bound;
  while (true) {
    for (Conversation& one : conversations) one.go_on();
    TRY(watch.update(tally));
    tally.answered = static_cast<int>(std::ranges::count(conversations, true, &Conversation::answered));
    if (complete(tally) || steady_clock::now() >= deadline) return tally;
    wait_for_news(watch, conversations, deadline);
  }
}

}  // namespace lab
