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

bool OwnWrites::are_in(std::uint64_t view_version) const {
  return view_version >= version_ || base::SteadyClock().now() - at_ > kLongest;
}

}  // namespace controller
