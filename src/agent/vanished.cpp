#include "agent/vanished.h"

#include <utility>

namespace agent {

void Vanished::note(std::shared_ptr<const View> view, base::TimePoint now) {
  std::vector<View::Entry> held;
  std::vector<base::TimePoint> due;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (due_[i] <= now || view->find(held_[i]->key) != nullptr) continue;
    held.push_back(std::move(held_[i]));
    due.push_back(due_[i]);
  }
  held_ = std::move(held);
  due_ = std::move(due);

  if (last_ && last_ != view) {
    for (const View::Entry& entry : last_->objects) {
      if (!entry->value.is_present() || view->find(entry->key) != nullptr) continue;
      held_.push_back(entry);
      due_.push_back(now + kHold);
    }
  }
  last_ = std::move(view);
}

std::optional<base::TimePoint> Vanished::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.front();
}

}  // namespace agent
