#pragma once

#include <string>

#include "metrics/registry.h"

namespace metrics {

// `process_*`, with the names and meanings every Prometheus client uses; read when somebody asks.
void add_process(Registry& registry);

// `iprule_build_info{version="..."} 1`.
void add_build_info(Registry& registry);

}  // namespace metrics
