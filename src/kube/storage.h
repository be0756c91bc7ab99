#pragma once

#include <mutex>
#include <stop_token>

namespace kube {

// The storage behind a server, as its clients can tell: it counts the versions of all kinds. Restored from a backup it
// goes on from a lower number, and reaches numbers a second time, with another meaning; a kind that asks only then sees
// nothing wrong. So the first one that does see it tells the others.
class Storage {
 public:
  std::stop_token life() const;  // Stopped when it is over; then there is another.

  // `life` is over. That of a life before this one is no news.
  void fell_back(const std::stop_token& life);

 private:
  mutable std::mutex mutex_;
  std::stop_source life_;
};

}  // namespace kube
