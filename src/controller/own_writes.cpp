#include "controller/own_writes.h"

#include "json/reader.h"
#include "kube/watch.h"

namespace controller {
namespace {

constexpr auto kLongest = std::chrono::seconds(5);

}  // namespace

void OwnWrites::note(const std::string& answer) {
  json::Reader reader;
  const auto object = reader.parse(answer);
  if (!object) return;
  const auto text = (*object)["metadata"]["resourceVersion"].string_or("");
  if (!text) return;
  version_ = kube::parse_version(*text).value_or(version_);
  at_ = base::SteadyClock().now();
}

void OwnWrites::note_removal(const meta::Meta& removed) {
  removed_.insert_or_assign(kube::Key{.ns = removed.ns, .name = removed.name}, removed.uid);
  at_ = base::SteadyClock().now();
}

bool OwnWrites::is_overdue() const {
  return base::SteadyClock().now() - at_ > kLongest;
}

}  // namespace controller
