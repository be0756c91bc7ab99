#pragma once

#include <span>
#include <string>
#include <string_view>

namespace base {

// The known word that somebody who wrote `word` most likely meant; empty when none is close. Of equally close ones the
// first.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

}  // namespace base
