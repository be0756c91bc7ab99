#include "controller/own_writes.h"

#include "json/reader.h"
#include "kube/watch.h"

namespace controller {
namespace {

constexpr auto kLongest = std::chrono::seconds(5);

}  // namespace

std::uint64_t OwnWrites::note(const std::string& answer) {
  json::Reader reader;
  const auto object = reader.parse(answer);
  if (!object) return 0;
  const auto text = (*object)["metadata"]["resourceVersion"].string_or("");
  const auto version = text ? kube::parse_version(*text) : std::unexpected(text.error());
  if (!version) return 0;
  version_ = *version;
  at_ = base::SteadyClock().now();
  return *version;
}

void OwnWrites::note_removal(const meta::Meta& removed) {
  removed_.insert_or_assign(kube::Key{.ns = removed.ns, .name = removed.name}, removed.uid);
  at_ = base::SteadyClock().now();
}

bool OwnWrites::is_overdue() const {
  return base::SteadyClock().now() - at_ > kLongest;
}

}  // namespace controller
