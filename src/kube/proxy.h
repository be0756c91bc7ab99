#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "http/url.h"

namespace kube {

// The proxy by which a server is reached, as the environment says it (HTTPS_PROXY, NO_PROXY); none: directly. The host
// itself is never reached through one. `exceptions` are names ("example" with all below it, ".example" and "*.example"
// only what is below), addresses, each with a port or without, prefixes, or "*".
base::Result<std::optional<http::Url>> proxy_for(const http::Url& server, const std::string& proxy,
                                                 const std::string& exceptions);

// "http://user:password@host:port", or without user or scheme as people write it. A proxy that wants TLS is refused.
// The password is in no error.
base::Result<http::Url> parse_proxy(const std::string& text);

}  // namespace kube
