#include "kernel/nft/fields.h"

#include <algorithm>
#include <endian.h>

#include <fmt/format.h>

namespace kernel::nft {

base::Result<Fields> Fields::read(std::span<const std::byte> attributes) {
  Fields out;
  while (!attributes.empty()) {
    const Attribute attribute = TRY(next_attribute(attributes));
    out.left_.push_back(attribute);
  }
  return out;
}

std::optional<Attribute> Fields::take(std::uint16_t type) {
  const auto found = std::ranges::find(left_, type, &Attribute::type);
  if (found == left_.end()) return std::nullopt;
  const Attribute out = *found;
  left_.erase(found);
  return out;
}

base::Result<Attribute> Fields::need(std::uint16_t type) {
  const auto found = take(type);
  if (!found) return base::fail(base::Fault::kernel, fmt::format("attribute {} is missing", type));
  return *found;
}

base::Result<std::uint32_t> Fields::number(std::uint16_t type) {
  const Attribute attribute = TRY(need(type));
  return be32toh(TRY(attribute.u32()));
}

base::Result<std::uint32_t> Fields::number_or(std::uint16_t type, std::uint32_t otherwise) {
  const auto attribute = take(type);
  if (!attribute) return otherwise;
  return be32toh(TRY(attribute->u32()));
}

base::Result<std::string> Fields::text(std::uint16_t type) {
  const Attribute attribute = TRY(need(type));
  return std::string(TRY(attribute.text()));
}

base::Status Fields::expect_no_more() const {
  for (const Attribute& attribute : left_) {
    if (attribute.says_nothing()) continue;
    return base::fail(base::Fault::kernel, fmt::format("attribute {} is not one of ours", attribute.type));
  }
  return {};
}

void put_number(Message& message, std::uint16_t type, std::uint32_t number) {
  message.put_u32(type, htobe32(number));
}

}  // namespace kernel::nft
