#include "lab/traffic.h"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>

namespace lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerWait = 5s;  // For an answer, before it counts as lost.
constexpr auto kPause = 5ms;      // Between two rounds: what is watched needs the machine, too.

}  // namespace

base::Result<std::unique_ptr<Traffic>> Traffic::start(Scene& scene, const SceneNode& node, int conversations) {
  std::vector<base::Fd> sockets;
  for (int i = 0; i < conversations; ++i) {
    const net::Address& target = node.service.at(static_cast<std::size_t>(i % 2));
    sockets.push_back(TRY(bind_udp(scene.client(), Scene::client_address(target.family()), 0)));
    TRY(connect_udp(sockets.back(), target, kServicePort));
  }
  Tap eth0 = TRY(Tap::open(scene.gateway_a(), node.name));
  Tap eth1 = TRY(Tap::open(scene.gateway_b(), node.name));
  std::unique_ptr<Traffic> traffic(new Traffic(std::move(sockets), std::move(eth0), std::move(eth1), node));
  traffic->thread_ = std::jthread([self = traffic.get()](const std::stop_token& stop) { self->run(stop); });
  return traffic;
}

Traffic::~Traffic() = default;

base::Result<Tally> Traffic::stop() {
  thread_.request_stop();
  thread_.join();
  TRY(std::move(status_));
  return tally_;
}

void Traffic::run(const std::stop_token& stop) {
  while (!stop.stop_requested() && status_) {
    talk();
    status_ = count(eth0_, tally_.requests_in.eth0, tally_.replies_out.eth0);
    if (status_) status_ = count(eth1_, tally_.requests_in.eth1, tally_.replies_out.eth1);
    std::this_thread::sleep_for(kPause);
  }
}

void Traffic::talk() {
  int expected = 0;
  for (const base::Fd& socket : sockets_) expected += ::send(socket.get(), "?", 1, 0) == 1 ? 1 : 0;
  tally_.requests += expected;
  const auto deadline = std::chrono::steady_clock::now() + kAnswerWait;
  std::vector<pollfd> waiting;
  for (const base::Fd& socket : sockets_) waiting.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
  while (expected > 0 && std::chrono::steady_clock::now() < deadline) {
    (void)::poll(waiting.data(), waiting.size(), 100);  // The loop looks again.
    char byte = 0;
    for (const pollfd& socket : waiting) {
      while (::recv(socket.fd, &byte, 1, 0) == 1) --expected, ++tally_.answered;
    }
  }
}

base::Status Traffic::count(Tap& tap, int& requests, int& replies) {
  const auto is_service = [&](const net::Address& address) {
    return std::ranges::find(node_.service, address) != node_.service.end();
  };
  for (const Tap::Packet& packet : TRY(tap.take())) {
    if (packet.outgoing && is_service(packet.destination)) ++requests;
    if (!packet.outgoing && is_service(packet.source)) ++replies;
  }
  return {};
}

}  // namespace lab
