#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"

namespace kernel::nft {

// The attributes of one object, each taken out by whoever understands it.
class Fields {
 public:
  static base::Result<Fields> read(std::span<const std::byte> attributes);

  std::optional<Attribute> take(std::uint16_t type);
  base::Result<Attribute> need(std::uint16_t type);
  base::Result<std::uint32_t> number(std::uint16_t type);  // Needed. nfnetlink has them in network order.
  base::Result<std::uint32_t> number_or(std::uint16_t type, std::uint32_t otherwise);
  base::Result<std::string> text(std::uint16_t type);  // Needed.

  // An error where something is left that may change the meaning.
  base::Status expect_no_more() const;

 private:
  std::vector<Attribute> left_;
};

void put_number(Message& message, std::uint16_t type, std::uint32_t number);

}  // namespace kernel::nft
