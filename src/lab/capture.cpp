#include "lab/capture.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace lab {
namespace {

// The classic format of tcpdump, in the byte order of this machine: draft-ietf-opsawg-pcap.
struct FileHeader {
  std::uint32_t magic = 0xa1b2c3d4;
  std::uint16_t major = 2;
  std::uint16_t minor = 4;
  std::int32_t zone = 0;
  std::uint32_t accuracy = 0;
  std::uint32_t longest = 65535;
  std::uint32_t link_type = 1;  // Ethernet
};
struct PacketHeader {
  std::uint32_t seconds = 0;
  std::uint32_t microseconds = 0;
  std::uint32_t kept = 0;
  std::uint32_t length = 0;
};

constexpr int kBuffer = 8 << 20;

base::Result<base::Fd> open_link(const Host& host, std::string_view link) {
  base::Fd socket;
  const auto open_inside = [&]() -> base::Status {
    socket.reset(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return base::fail_errno("packet socket", errno);
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(ETH_P_ALL);
    place.sll_ifindex = static_cast<int>(::if_nametoindex(std::string(link).c_str()));
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer);
    if (place.sll_ifindex == 0 || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
      return base::fail_errno(fmt::format("capture link {} of {}", link, host.name()), errno);
    return {};
  };
  TRY(host.within(open_inside));
  return socket;
}

}  // namespace

base::Result<std::unique_ptr<Capture>> Capture::start(const Host& host, std::string_view link,
                                                      const std::filesystem::path& file) {
  base::Fd socket = TRY(open_link(host, link));
  base::Fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out) return base::fail_errno(fmt::format("write {}", file.native()), errno);
  const FileHeader header;
  if (::write(out.get(), &header, sizeof header) < 0)
    return base::fail_errno(fmt::format("write {}", file.native()), errno);
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::fail_errno("eventfd", errno);
  return std::unique_ptr<Capture>(new Capture(std::move(socket), std::move(out), std::move(stop)));
}

Capture::Capture(base::Fd socket, base::Fd file, base::Fd stop)
    : socket_(std::move(socket)), file_(std::move(file)), stop_(std::move(stop)), thread_([this] { run(); }) {}

Capture::~Capture() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);  // Cannot fail: the counter is far from full.
  thread_.join();
}

void Capture::run() {
  std::array waiting{pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                     pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while ((waiting[1].revents & POLLIN) == 0) {
    (void)::poll(waiting.data(), waiting.size(), -1);  // Interrupted: the loop looks again.
    drain();
  }
}

void Capture::drain() {
  std::array<char, 65535> packet;
  while (true) {
    const ssize_t length = ::recv(socket_.get(), packet.data(), packet.size(), MSG_TRUNC);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return;  // Nothing more, or the link has gone: its packets end here.
    const auto whole = static_cast<std::size_t>(length);
    write({packet.data(), std::min(whole, packet.size())}, whole);
  }
}

void Capture::write(std::string_view packet, std::size_t length) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const PacketHeader header{.seconds = static_cast<std::uint32_t>(seconds.count()),
                            .microseconds = static_cast<std::uint32_t>(
                                std::chrono::duration_cast<std::chrono::microseconds>(now - seconds).count()),
                            .kept = static_cast<std::uint32_t>(packet.size()),
                            .length = static_cast<std::uint32_t>(length)};
  std::string record(reinterpret_cast<const char*>(&header), sizeof header);
  record += packet;
  (void)!::write(file_.get(), record.data(), record.size());  // A full disk must not disturb what is being shown.
}

}  // namespace lab
