#include "metrics/calls.h"

#include <utility>
#include <vector>

namespace metrics {
namespace {

// client-go's.
const std::vector<double> kCallBounds = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

}  // namespace

CallObserver count_calls(Registry& registry, std::string host) {
  return [&registry, host = std::move(host)](std::string_view method, int code, std::chrono::duration<double> took) {
    registry
        .counter(
            "rest_client_requests_total", "Calls to the API server.",
            {{"code", code == 0 ? "<error>" : std::to_string(code)}, {"host", host}, {"method", std::string(method)}})
        .add();
    registry
        .histogram("rest_client_request_duration_seconds", "How long calls to the API server took.", kCallBounds,
                   {{"host", host}, {"verb", std::string(method)}})
        .observe(took);
  };
}

}  // namespace metrics
