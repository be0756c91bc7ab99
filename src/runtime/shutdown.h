#pragma once

#include <stop_token>
#include <thread>

namespace runtime {

// Turns SIGTERM and SIGINT into a stop request. Make it in main before any other thread: they inherit that the two
// signals are blocked, so only this one receives them. From then on, who stops reading what the process writes does not
// end it either: that is an error of the write.
class Shutdown {
 public:
  Shutdown();
  ~Shutdown();
  Shutdown(const Shutdown&) = delete;
  Shutdown& operator=(const Shutdown&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  void request() { stop_.request_stop(); }  // For a main that ends for a reason of its own.

 private:
  std::stop_source stop_;
  std::thread waiter_;
};

}  // namespace runtime
