#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "kube/store.h"
#include "meta/meta.h"

namespace controller {

// Whether a view of a kind has caught up with our own writes to it: decided on one that lacks the last write, a pass
// would do it again.
class OwnWrites {
 public:
  // The server's answer to a create or an update; returns the version that it tells, 0 where it tells none.
  std::uint64_t note(const std::string& answer, base::TimePoint now = base::now());

  void note_removal(const meta::Meta& removed, base::TimePoint now = base::now());

  // Not for ever: a storage that was restored from a backup counts from a lower number.
  template <typename T>
  bool are_in(const kube::View<T>& view, base::TimePoint now = base::now()) {
    std::erase_if(removed_, [&](const auto& removed) {
      const kube::Object<T>* object = view.find(removed.first);
      return object == nullptr || object->uid != removed.second || object->value.meta.terminating();
    });
    if (is_overdue(now)) forget();
    return removed_.empty() && view.version >= version_;
  }

 private:
  bool is_overdue(base::TimePoint now) const;
  void forget();

  std::uint64_t version_ = 0;                 // The highest that was told.
  std::map<kube::Key, std::string> removed_;  // To their uids: what the view still shows, or may.
  base::TimePoint at_{};
};

}  // namespace controller
