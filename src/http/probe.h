#pragma once

#include <string>

#include "http/routes.h"
#include "runtime/health.h"

namespace http {

// 200 with the text `well`, or 503 with a line for each check and its reason; `?verbose` shows the lines always, and
// remarks are always shown. The health must outlive the handler.
Handler probe(const runtime::Health& health, std::string well);

}  // namespace http
