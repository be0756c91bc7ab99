#pragma once

#include <string>

namespace http {

std::string gzip(const std::string& text);

}  // namespace http
