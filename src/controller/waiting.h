#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "kube/store.h"

namespace controller {

// "services not listed yet: 403 Forbidden: ...", or nothing when the view is whole.
template <typename T>
std::optional<std::string> incomplete(std::string_view what, const kube::View<T>& view) {
  if (view.complete) return std::nullopt;
  return fmt::format("{} not listed yet{}{}", what, view.trouble ? ": " : "",
                     view.trouble ? view.trouble->message() : "");
}

inline std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> reasons) {
  for (const auto& reason : reasons) {
    if (reason) return reason;
  }
  return std::nullopt;
}

}  // namespace controller
