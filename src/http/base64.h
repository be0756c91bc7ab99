#pragma once

#include <string>
#include <string_view>

namespace http {

// RFC 4648, 4: in one line, with its padding.
std::string base64(std::string_view bytes);

}  // namespace http
