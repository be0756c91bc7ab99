#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuzz {

// An input as a stream delivers it: its first byte says how large the pieces of the rest are.
class Pieces {
 public:
  Pieces(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {
    if (rest_.empty()) return;
    length_ = static_cast<std::size_t>(static_cast<unsigned char>(rest_.front())) + 1;
    rest_.remove_prefix(1);
  }

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view next() {
    const std::string_view out = rest_.substr(0, length_);
    rest_.remove_prefix(out.size());
    return out;
  }

 private:
  std::string_view rest_;
  std::size_t length_ = 1;
};

}  // namespace fuzz
