#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/kinds.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace cli {

// What of a kind is not listed, or cannot be followed at present.
template <typename Kind>
void add_gaps_of(const kube::View<Kind>& view, const std::string& name, std::vector<std::string>& gaps) {
  for (const auto& [key, found] : view.unknown) gaps.push_back(fmt::format("{} {}: {}", name, key.text(), found.why));
  if (view.trouble) {
    gaps.push_back(fmt::format("{}: {}", name, view.trouble->message()));
  } else if (!view.complete) {
    gaps.push_back(fmt::format("{}: no answer yet", name));
  }
}

// The objects of one of our kinds, kept up to date by a watch: after the first list the server is asked nothing, it
// tells. `changed` is raised when there is something new.
template <typename Kind>
class FollowedKind {
 public:
  FollowedKind(kube::Client& client, base::Result<Kind> (*decode)(const json::Value&), runtime::Signal& changed)
      : objects_(client, resource(), decode, changed) {}

  // They have been listed, or were found not to be there for us.
  bool is_known() const {
    const auto view = objects_.latest();
    return view->complete || view->trouble;
  }

  // The server does not know the kind.
  bool is_unserved() const {
    const auto view = objects_.latest();
    return !view->complete && view->trouble && view->trouble->fault() == base::Fault::absent;
  }
  static std::string name() { return resource().text(); }

  // Adds them. What is not listed, or cannot be followed at present, is a gap.
  void take(std::vector<Kind>& into, std::vector<std::string>& gaps) const {
    const auto view = objects_.latest();
    for (const auto& object : view->objects) into.push_back(object->value);
    add_gaps_of(*view, name(), gaps);
  }

 private:
  static kube::Resource resource() {
    return {std::string(api::kGroup), std::string(api::kVersion), std::string(Kind::kPlural), false};
  }

  kube::Reflector<Kind> objects_;
};

}  // namespace cli
