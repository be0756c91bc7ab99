#include "controller/own_writes.h"

#include <algorithm>

#include "json/reader.h"
#include "kube/watch.h"

namespace controller {
namespace {

constexpr auto kLongest = std::chrono::seconds(5);

}  // namespace

std::uint64_t OwnWrites::note(const std::string& answer, base::TimePoint now) {
  json::Reader reader;
  const auto object = reader.parse(answer);
  if (!object) return 0;
  const auto text = (*object)["metadata"]["resourceVersion"].string_or("");
  const auto version = text ? kube::parse_version(*text) : std::unexpected(text.error());
  if (!version) return 0;
  version_ = std::max(version_, *version);  // An update that changes nothing is answered with the object's old version.
  at_ = now;
  return *version;
}

void OwnWrites::note_removal(const meta::Meta& removed, base::TimePoint now) {
  removed_.insert_or_assign(kube::Key{.ns = removed.ns, .name = removed.name}, removed.uid);
  at_ = now;
}

bool OwnWrites::is_overdue(base::TimePoint now) const {
  return now - at_ > kLongest;
}

void OwnWrites::forget() {
  removed_.clear();
  version_ = 0;
}

}  // namespace controller
