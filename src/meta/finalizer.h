#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meta/meta.h"

namespace meta {

// The finalizers that an object is to have so that `name` holds it, or no longer does; those of others stay, in their
// order. Nothing: it is so already. The Meta must have been decoded with its finalizers.
std::optional<std::vector<std::string>> with_finalizer(const Meta& meta, std::string_view name);
std::optional<std::vector<std::string>> without_finalizer(const Meta& meta, std::string_view name);

}  // namespace meta
