#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace json {

// Writes messages, for tests:
//
//   WrittenMessage().text(1, "name").message(2, WrittenMessage().number(1, 7)).bytes()
class WrittenMessage {
 public:
  WrittenMessage& text(std::uint32_t number, std::string_view value) {
    varint(number << 3U | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  WrittenMessage& message(std::uint32_t number, const WrittenMessage& value) { return text(number, value.bytes_); }
  WrittenMessage& entry(std::uint32_t number, std::string_view key, std::string_view value) {
    return message(number, WrittenMessage().text(1, key).text(2, value));
  }
  WrittenMessage& number(std::uint32_t number, std::uint64_t value) {
    varint(number << 3U);
    varint(value);
    return *this;
  }
  WrittenMessage& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace json
