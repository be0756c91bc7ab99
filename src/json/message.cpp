#include "json/message.h"

namespace json {
namespace {

// protobuf.dev, "Encoding".
enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

bool MessageFields::next() {
  if (rest_.empty() || is_broken_) return false;
  std::uint64_t tag = 0;
  if (!read_varint(tag) || tag > UINT32_MAX || tag < 8) return fail();
  number_ = static_cast<std::uint32_t>(tag >> 3U);
  type_ = Type::other;
  bytes_ = {};
  switch (tag & 7U) {
    case kVarint:
      type_ = Type::value;
      return read_varint(value_) || fail();
    case kBytes:
      type_ = Type::bytes;
      return (read_varint(value_) && take(value_)) || fail();
    case kFixed64:
      return take(8) || fail();
    case kFixed32:
      return take(4) || fail();
    default:
      return fail();  // Groups, which were given up before there was a Kubernetes.
  }
}

bool MessageFields::read_long_varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80U) return shift < 63 || byte < 2;
  }
  return false;
}

bool MessageFields::take(std::uint64_t size) {
  if (size > rest_.size()) return false;
  bytes_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool MessageFields::fail() {
  is_broken_ = true;
  return false;
}

std::string_view bytes_of(std::string_view message, std::uint32_t number) {
  MessageFields fields(message);
  while (fields.next()) {
    if (fields.number() == number && fields.has_bytes()) return fields.bytes();
  }
  return {};
}

}  // namespace json
