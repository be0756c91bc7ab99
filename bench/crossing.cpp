#include "bench/crossing.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <vector>

#include <fmt/format.h>

#include "kernel/engine.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kStretch = 150ms;
constexpr int kLatencies = 1'000;
constexpr std::uint16_t kPort = 7000;

sockaddr_in receiver() {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(kPort);
  const auto address = net::Address::parse("192.0.2.130").value();
  std::ranges::copy(address.bytes(), reinterpret_cast<std::byte*>(&out.sin_addr));
  return out;
}

base::Result<base::Fd> socket_of(int type) {
  base::Fd out(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  if (!out) return base::fail_errno("socket", errno);
  return out;
}

using Attach = int (*)(int, const sockaddr*, socklen_t);
base::Status attach(const base::Fd& socket, Attach call, const char* name) {
  const sockaddr_in where = receiver();
  if (call(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
    return base::fail_errno(name, errno);
  return {};
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How often `work` can be done in a second.
base::Result<double> rate(const std::function<base::Result<int>()>& work) {
  const auto start = Clock::now();
  int done = 0;
  while (Clock::now() - start < kStretch) done += TRY(work());
  return done / seconds_since(start);
}

// As every node with kube-proxy on it does, with or without us: what that costs is not what sources cost.
base::Status track_connections(lab::Host& node) {
  constexpr auto* kRules =
      "add table inet proxy; add chain inet proxy forward { type filter hook forward priority 0; }; "
      "add rule inet proxy forward ct state established accept";
  return node.within([&]() -> base::Status {
    const auto done = TRY(lab::run({.arguments = {"nft", kRules}}, 10s));
    return done.exit.ok() ? base::Status() : base::fail(base::Fault::unavailable, "nft: " + done.errors);
  });
}

}  // namespace

base::Result<std::unique_ptr<Crossing>> Crossing::build(const state::NetState& steering) {
  std::unique_ptr<Crossing> out(new Crossing());
  TRY(out->prepare(steering));
  TRY(out->open_sockets());
  return out;
}

base::Status Crossing::prepare(const state::NetState& steering) {
  world_.emplace(TRY(lab::World::make()));
  static int number = 0;  // Several stand side by side.
  ++number;
  sender_ = TRY(world_->add_host(fmt::format("sender-{}", number)));
  node_ = TRY(world_->add_host(fmt::format("node-{}", number)));
  receiver_ = TRY(world_->add_host(fmt::format("receiver-{}", number)));
  TRY(world_->connect(*sender_, "eth0", *node_, "eth0"));
  TRY(world_->connect(*node_, "eth1", *receiver_, "eth0"));
  TRY(sender_->add_address("eth0", lab::InterfaceAddress::of("192.0.2.2/25")));
  TRY(node_->add_address("eth0", lab::InterfaceAddress::of("192.0.2.1/25")));
  TRY(node_->add_address("eth1", lab::InterfaceAddress::of("192.0.2.129/25")));
  TRY(receiver_->add_address("eth0", lab::InterfaceAddress::of("192.0.2.130/25")));
  const auto route = [](lab::Host& host, const char* gateway) {
    return host.add_route({.destination = net::Prefix(net::Address::parse("192.0.2.0").value(), 24),
                           .gateway = net::Address::parse(gateway).value(),
                           .link = "eth0"});
  };
  TRY(route(*sender_, "192.0.2.1"));
  TRY(route(*receiver_, "192.0.2.129"));
  TRY(node_->forward_packets());
  TRY(track_connections(*node_));
  return node_->within([&]() -> base::Status {
    auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
    const auto report = TRY(engine.converge(steering, {}));
    return report.settled() ? base::Status() : base::fail(base::Fault::bug, "not settled");
  });
}

base::Status Crossing::open_sockets() {
  const auto wait = [this]() -> base::Status {
    in_ = TRY(socket_of(SOCK_DGRAM));
    listener_ = TRY(socket_of(SOCK_STREAM));
    TRY(attach(in_, ::bind, "bind"));
    TRY(attach(listener_, ::bind, "bind"));
    return ::listen(listener_.get(), 64) == 0 ? base::Status() : base::fail_errno("listen", errno);
  };
  const auto call = [this]() -> base::Status {
    out_ = TRY(socket_of(SOCK_DGRAM));
    return attach(out_, ::connect, "connect");
  };
  TRY(receiver_->within(wait));
  TRY(sender_->within(call));
  TRY(latency_p99());  // Neighbours are known from here on.
  return {};
}

base::Result<double> Crossing::packets_per_second() {
  const std::uint64_t before = TRY(receiver_->count_packets("eth0")).received;
  const auto start = Clock::now();
  const std::array<char, 64> packet{};
  TRY(rate([&]() -> base::Result<int> {
    if (::send(out_.get(), packet.data(), packet.size(), 0) < 0) return base::fail_errno("send", errno);
    return 1;
  }));
  const double seconds = seconds_since(start);
  const std::uint64_t crossed = TRY(receiver_->count_packets("eth0")).received - before;
  std::array<char, 64> drop;
  while (::recv(in_.get(), drop.data(), drop.size(), MSG_DONTWAIT) >= 0) continue;
  return static_cast<double>(crossed) / seconds;
}

base::Result<double> Crossing::latency_p99() {
  std::vector<double> times;
  std::array<char, 64> packet{};
  for (int i = 0; i < kLatencies; ++i) {
    const auto start = Clock::now();
    if (::send(out_.get(), packet.data(), packet.size(), 0) < 0) return base::fail_errno("send", errno);
    if (::recv(in_.get(), packet.data(), packet.size(), 0) < 0) return base::fail_errno("recv", errno);
    times.push_back(seconds_since(start) * 1e6);
  }
  std::ranges::sort(times);
  return times[kLatencies * 99 / 100];
}

base::Result<double> Crossing::connections_per_second() {
  const auto connect_once = [this]() -> base::Result<int> {
    const base::Fd client = TRY(socket_of(SOCK_STREAM));
    // A reset at the end, so that no port is kept.
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    (void)::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    TRY(attach(client, ::connect, "connect"));
    const base::Fd server(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return server ? base::Result<int>(1) : base::fail_errno("accept", errno);
  };
  double out = 0;
  const auto work = [&]() -> base::Status {
    out = TRY(rate(connect_once));
    return {};
  };
  TRY(sender_->within(work));
  return out;
}

}  // namespace bench
