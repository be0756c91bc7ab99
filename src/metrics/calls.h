#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "metrics/registry.h"

namespace metrics {

// Told of each call to the API server: its method, the answer's code (0: there was none) and how long it took.
using CallObserver = std::function<void(std::string_view, int, std::chrono::duration<double>)>;

// Counts calls under client-go's names, `rest_client_*`. The registry outlives it.
CallObserver count_calls(Registry& registry, std::string host);

}  // namespace metrics
