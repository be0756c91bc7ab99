#pragma once

#include <string>

namespace testbed {

// A JSON web token (RFC 7519) with these claims, signed with a key of lab::make_keys().
std::string web_token(const std::string& claims, const std::string& key);

}  // namespace testbed
