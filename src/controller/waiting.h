#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "kube/store.h"

namespace controller {

// "services not listed yet: 403 Forbidden: ...", or nothing when the view is whole.
template <typename T>
std::optional<std::string> incomplete(std::string_view what, const kube::View<T>& view) {
  if (view.complete) return std::nullopt;
  return fmt::format("{} not listed yet{}{}", what, view.trouble ? ": " : "",
                     view.trouble ? view.trouble->message() : "");
}

// How one of our watches does.
struct WatchState {
  std::string resource;
  bool is_synced = false;  // It was seen whole, and what is new comes.
  bool is_denied = false;  // Nothing comes because we have no right to it.
  std::optional<std::string>
      trouble;                 // What went wrong after it had been seen whole; where it blocks others, so it says.
  base::TimePoint heard_at{};  // When the server last told anything.
};

// While an object cannot be read, it may be the reason for any of those we published: none of them is withdrawn.
template <typename T>
WatchState state_of(std::string resource, const kube::View<T>& view, base::TimePoint heard_at) {
  WatchState out{.resource = std::move(resource),
                 .is_synced = view.complete && !view.trouble,
                 .is_denied = view.trouble && view.trouble->fault() == base::Fault::denied,
                 .trouble = {},
                 .heard_at = heard_at};
  out.trouble = incomplete(out.resource, view);
  if (view.complete && view.trouble) {
    out.trouble = fmt::format("{}: nothing new comes: {}", out.resource, view.trouble->message());
  } else if (view.complete && !view.unknown.empty()) {
    const auto& [key, found] = *view.unknown.begin();
    out.trouble = fmt::format("{}: {} cannot be read: {}", out.resource, key.text(), found.why);
  }
  return out;
}

inline std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> reasons) {
  for (const auto& reason : reasons) {
    if (reason) return reason;
  }
  return std::nullopt;
}

}  // namespace controller
