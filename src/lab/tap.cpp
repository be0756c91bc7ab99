#include "lab/tap.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>

#include <fmt/format.h>

namespace lab {
namespace {

constexpr int kTapBuffer = 8 << 20;
constexpr std::size_t kHeader = 64;  // Both headers, of IP and of TCP or UDP, up to the ports.

// The first two fields of TCP and of UDP.
void parse_ports(std::span<const std::byte> rest, std::byte protocol, Tap::Packet& into) {
  if ((protocol != std::byte{6} && protocol != std::byte{17}) || rest.size() < 4) return;
  const auto number = [&](std::size_t at) {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(rest[at]) << 8U |
                                      std::to_integer<unsigned>(rest[at + 1]));
  };
  into.source_port = number(0);
  into.destination_port = number(2);
}

// The two addresses lie at fixed places of either header (RFC 791, RFC 8200).
std::optional<Tap::Packet> parse(std::span<const std::byte> header) {
  const bool v4 = !header.empty() && (header[0] >> 4) == std::byte{4};
  const std::size_t at = v4 ? 12 : 8;
  const std::size_t size = v4 ? 4 : 16;
  if (header.size() < at + 2 * size) return {};
  const auto source = net::Address::from_bytes(header.subspan(at, size));
  const auto destination = net::Address::from_bytes(header.subspan(at + size, size));
  if (!source || !destination) return {};
  Tap::Packet packet{.source = *source, .destination = *destination};
  const std::size_t end = v4 ? std::to_integer<std::size_t>(header[0] & std::byte{15}) * 4 : 40;
  if (header.size() > end) parse_ports(header.subspan(end), header[v4 ? 9 : 6], packet);
  return packet;
}

}  // namespace

base::Result<Tap> Tap::open(const Host& host, std::string_view link) {
  base::Fd socket;
  const auto open_inside = [&]() -> base::Status {
    socket.reset(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return base::fail_errno("packet socket", errno);
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(ETH_P_ALL);  // Only so are sent packets seen too.
    place.sll_ifindex = static_cast<int>(::if_nametoindex(std::string(link).c_str()));
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kTapBuffer, sizeof kTapBuffer);
    if (place.sll_ifindex == 0 || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
      return base::fail_errno(fmt::format("watch link {} of {}", link, host.name()), errno);
    return {};
  };
  TRY(host.within(open_inside));
  return Tap(std::move(socket));
}

base::Result<std::vector<Tap::Packet>> Tap::take() {
  std::vector<Packet> packets;
  while (true) {
    std::array<std::byte, kHeader> header;
    sockaddr_ll place{};
    socklen_t place_size = sizeof place;
    const ssize_t size =
        ::recvfrom(socket_.get(), header.data(), header.size(), 0, reinterpret_cast<sockaddr*>(&place), &place_size);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return base::fail_errno("receive packets", errno);
    if (place.sll_protocol != htons(ETH_P_IP) && place.sll_protocol != htons(ETH_P_IPV6)) continue;
    auto packet = parse(std::span(header).first(static_cast<std::size_t>(size)));
    if (!packet) continue;
    packet->outgoing = place.sll_pkttype == PACKET_OUTGOING;
    packets.push_back(*packet);
  }
  tpacket_stats stats{};
  socklen_t stats_size = sizeof stats;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &stats_size) != 0)
    return base::fail_errno("packet statistics", errno);
  if (stats.tp_drops > 0)
    return base::fail(base::Fault::unavailable, fmt::format("{} packets were not seen", stats.tp_drops));
  return packets;
}

}  // namespace lab
