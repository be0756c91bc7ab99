#include "meta/finalizer.h"

#include <algorithm>

namespace meta {

std::optional<std::vector<std::string>> with_finalizer(const Meta& meta, std::string_view name) {
  if (std::ranges::find(meta.finalizers, name) != meta.finalizers.end()) return std::nullopt;
  auto out = meta.finalizers;
  out.emplace_back(name);
  return out;
}

std::optional<std::vector<std::string>> without_finalizer(const Meta& meta, std::string_view name) {
  auto out = meta.finalizers;
  if (std::erase(out, name) == 0) return std::nullopt;
  return out;
}

}  // namespace meta
