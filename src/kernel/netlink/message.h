#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "net/address.h"

struct nlmsghdr;

namespace kernel {

// One netlink request under construction: header, family header, attributes. It grows as needed; what a netlink
// attribute cannot hold (64 KiB, nests included) makes the message unfit, and a socket refuses to send it. The socket
// stamps the sequence number. Not for sharing between threads.
class Message {
 public:
  // NLM_F_REQUEST is always set; NLM_F_ACK and NLM_F_DUMP are the socket's business.
  Message(std::uint16_t type, std::uint16_t flags);
  template <typename Header>
    requires std::is_trivially_copyable_v<Header>
  Message(std::uint16_t type, std::uint16_t flags, const Header& header) : Message(type, flags) {
    append_header(std::as_bytes(std::span(&header, 1)));
  }

  void put_u8(std::uint16_t type, std::uint8_t value);
  void put_u16(std::uint16_t type, std::uint16_t value);
  void put_u32(std::uint16_t type, std::uint32_t value);
  void put_u64(std::uint16_t type, std::uint64_t value);
  void put_flag(std::uint16_t type) { put_bytes(type, {}); }
  void put_text(std::uint16_t type, std::string_view text);  // With the final NUL the kernel asks for.
  void put_bytes(std::uint16_t type, std::span<const std::byte> bytes);
  void put_address(std::uint16_t type, const net::Address& address) { put_bytes(type, address.bytes()); }
  // A family struct (rtvia, port range) as the kernel defines it.
  template <typename Struct>
    requires std::is_trivially_copyable_v<Struct>
  void put_struct(std::uint16_t type, const Struct& value) {
    put_bytes(type, std::as_bytes(std::span(&value, 1)));
  }

  // msg.put_nested(IFLA_LINKINFO, [&] { msg.put_text(IFLA_INFO_KIND, "veth"); });
  template <typename Fill>
  void put_nested(std::uint16_t type, Fill fill) {
    const std::size_t nest = open_nest(type);
    fill();
    close_nest(nest);
  }
  // The same with a family struct between the attribute's header and the nested ones (VETH_INFO_PEER, RTA_MULTIPATH).
  void append_header(std::span<const std::byte> header);

  std::uint16_t type() const;
  bool fits() const { return fits_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class Socket;

  nlmsghdr* header();
  void reserve(std::size_t more);
  void shrink_to_length();
  std::size_t open_nest(std::uint16_t type);
  void close_nest(std::size_t at);
  void stamp(std::uint32_t sequence, std::uint16_t more_flags);

  std::vector<std::byte> bytes_;
  bool fits_ = true;
};

}  // namespace kernel
