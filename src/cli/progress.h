#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

// A line of a terminal that tells how far something has come, shown only once that takes longer than a moment. It never
// wraps, and clear() leaves nothing of it. Where there is no terminal nothing is ever shown.
class Progress {
 public:
  explicit Progress(int descriptor);
  static bool is_possible(int descriptor);  // There is a terminal that can redraw.
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // "[####------] nodes 412/1000"; where nobody knows of how many, `total` is 0: "nodes 412".
  void step(std::string_view what, std::size_t done, std::size_t total);
  void clear();

 private:
  int descriptor_;
  bool is_terminal_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// The line, not wider than `columns`.
std::string progress_line(std::string_view what, std::size_t done, std::size_t total, std::size_t columns);

}  // namespace cli
