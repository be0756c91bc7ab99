#pragma once

#include <string>
#include <string_view>

namespace base {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that text from the
// outside cannot spoil what it is put into.
void append_json_string(std::string& out, std::string_view text);

}  // namespace base
