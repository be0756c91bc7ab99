#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/message.h"
#include "kernel/netlink/socket.h"
#include "kernel/nft/expression.h"
#include "kernel/nft/layout.h"

namespace kernel::nft {

// An address, or one end of an interval, in a set.
struct Element {
  std::array<std::byte, 16> key{};
  std::uint8_t length = 4;      // Of the key.
  bool ends_interval = false;   // The first address behind it.
  std::string_view chain = {};  // In a map: where its packets go. Of an element that is removed it does not matter.
};

// Requests about one table of family inet, in order, for one transaction.
class Requests {
 public:
  explicit Requests(std::string_view table) : table_(table) {}

  // Each add is no error where the thing is there already.
  void add_table();
  void delete_table();
  void add_set(const Set& set);
  void add_chain(std::string_view name, const Hook& hook = {});
  void flush_chain(std::string_view name);
  void delete_chain(std::string_view name);
  void add_rule(std::string_view chain, const Expressions& expressions);
  void add_elements(std::string_view set, std::span<const Element> elements);
  void delete_elements(std::string_view set, std::span<const Element> elements);

  std::vector<Message>& messages() { return messages_; }

 private:
  Message& request(std::uint16_t type, std::uint16_t flags);
  void put_elements(std::uint16_t type, std::uint16_t flags, std::string_view set, std::span<const Element> elements);

  std::string table_;
  std::vector<Message> messages_;
};

// All of them or none. `socket` is one of Bus::netfilter.
base::Status commit(Socket& socket, Requests requests);
// Whether the kernel would do all of that; nothing is done.
base::Status check(Socket& socket, Requests requests);

}  // namespace kernel::nft
