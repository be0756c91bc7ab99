#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace http {

// The contents of a gzip text (RFC 1952); an error if it is damaged, cut short, or would grow beyond `limit`.
base::Result<std::string> gunzip(std::string_view text, std::size_t limit);

}  // namespace http
