#include "controller/hold_down.h"

#include <algorithm>
#include <utility>

namespace controller {

std::optional<base::TimePoint> HoldDown::hold(std::vector<intent::Write>& writes, base::TimePoint now) {
  std::map<std::string, base::TimePoint> unwanted;  // What is wanted again is forgotten.
  std::optional<base::TimePoint> first_due;
  std::erase_if(writes, [&](const intent::Write& write) {
    if (write.step != intent::Write::Step::withdraw || write.is_in_the_way) return false;
    const std::string& uid = write.object.meta.uid;
    const auto known = unwanted_since_.find(uid);
    const base::TimePoint since = known != unwanted_since_.end() ? known->second : now;
    unwanted[uid] = since;
    const base::TimePoint due = since + delay_;
    if (due <= now) return false;
    first_due = std::min(first_due.value_or(due), due);
    return true;
  });
  unwanted_since_ = std::move(unwanted);
  return first_due;
}

}  // namespace controller
