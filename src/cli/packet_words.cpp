#include "cli/packet_words.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "state/words.h"

namespace cli {
namespace {

using state::words::refuse;

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 4> kProtocols = {
    {{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}}};

base::Result<std::uint8_t> parse_protocol(std::string_view text) {
  for (const auto& [name, number] : kProtocols) {
    if (name == text) return number;
  }
  return refuse("--proto", fmt::format("\"{}\" is none of tcp, udp, icmp, icmpv6", text));
}

std::string protocol_name(std::uint8_t number) {
  for (const auto& [name, known] : kProtocols) {
    if (known == number) return std::string(name);
  }
  return fmt::to_string(number);
}

}  // namespace

base::Result<path::Packet> parse_packet(const PacketWords& words) {
  path::Packet packet;
  if (words.to.empty()) return refuse("--to", "say where the packet goes, for example --to 198.18.7.9");
  packet.to = TRY(base::within("--to", net::Address::parse(words.to)));
  packet.from = packet.to.masked(0);
  if (!words.from.empty()) packet.from = TRY(base::within("--from", net::Address::parse(words.from)));
  if (packet.from.family() != packet.to.family()) {
    return refuse("--from", fmt::format("{} and {} are of different families", words.from, words.to));
  }
  if (!words.iif.empty()) packet.iif = TRY(base::within("--iif", net::InterfaceName::parse(words.iif)));
  if (!words.oif.empty()) packet.oif = TRY(base::within("--oif", net::InterfaceName::parse(words.oif)));
  if (!words.mark.empty()) packet.mark = TRY(state::words::number<std::uint32_t>("--mark", words.mark));
  if (!words.proto.empty()) packet.ip_protocol = TRY(parse_protocol(words.proto));
  packet.sport = words.sport;
  packet.dport = words.dport;
  return packet;
}

base::Result<std::optional<net::Address>> parse_reply_of(const PacketWords& words) {
  if (words.reply_of.empty()) return std::nullopt;
  return TRY(base::within("--reply-of", net::Address::parse(words.reply_of)));
}

std::string describe(const path::Packet& packet) {
  std::string out =
      packet.from.is_unspecified()
          ? fmt::format("to {} {}", packet.to.text(), protocol_name(packet.ip_protocol))
          : fmt::format("{} -> {} {}", packet.from.text(), packet.to.text(), protocol_name(packet.ip_protocol));
  if (packet.sport != 0) out += fmt::format(" from port {}", packet.sport);
  if (packet.dport != 0) out += fmt::format(" to port {}", packet.dport);
  if (packet.mark != 0) out += fmt::format(", mark {:#x}", packet.mark);
  out += packet.iif.empty() ? ", sent by this host" : fmt::format(", comes in by {}", packet.iif.text());
  return out;
}

}  // namespace cli
