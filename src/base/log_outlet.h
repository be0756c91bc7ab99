#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace base::log {

// The descriptor that lines go to, as far as there is room in it: whoever reads them may be slow, have stopped or have
// gone, and must never hold up who writes. Lines stay whole. Those for which there is no room are counted, and told of
// when there is some again. Safe from any thread.
class Outlet {
 public:
  // `account` makes the line, with its newline, that tells of so many lost ones.
  explicit Outlet(std::function<std::string(std::size_t lost)> account) : account_(std::move(account)) {}

  // A line with its newline.
  void put(int descriptor, std::string_view line);

 private:
  bool drain(int descriptor);  // Whether all of `rest_` is out.

  const std::function<std::string(std::size_t)> account_;
  std::mutex mutex_;
  std::string rest_;  // Of the last line, which had begun when there was no more room.
  std::size_t lost_ = 0;
};

}  // namespace base::log
