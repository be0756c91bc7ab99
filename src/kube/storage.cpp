#include "kube/storage.h"

#include <utility>

namespace kube {

std::stop_token Storage::life() const {
  const std::lock_guard lock(mutex_);
  return life_.get_token();
}

void Storage::fell_back(const std::stop_token& life) {
  std::stop_source ended(std::nostopstate);
  {
    const std::lock_guard lock(mutex_);
    if (life != life_.get_token()) return;
    ended = std::exchange(life_, std::stop_source());
  }
  ended.request_stop();  // Without the lock: who hears of it may ask for the next life.
}

}  // namespace kube
