#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace lab {

// Where one of our own servers listens on loopback, and how to trust and be trusted by it; no `authority`: no TLS.
struct Endpoint {
  std::uint16_t port = 0;
  std::filesystem::path authority = {};
  std::filesystem::path certificate = {};  // With its key in the same file.
};

struct Answer {
  int status = 0;
  std::string body;
};

// One request on a connection of its own, HTTP/1.0. It only serves to ask the parts of a control plane how they are,
// and is independent of the client that tests of it look at. GET without a body, POST with one.
base::Result<Answer> ask(const Endpoint& endpoint, const std::string& path, const std::string& body = {});

}  // namespace lab
