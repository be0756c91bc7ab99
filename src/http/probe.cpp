#include "http/probe.h"

namespace http {

Handler probe(const runtime::Health& health, std::string well) {
  return [&health, well = std::move(well)](const Request& request) {
    const auto report = health.report();
    if (!report.well) return plain_text(503, report.text + report.remarks);
    const bool verbose = request.target.find("?verbose") != std::string::npos;
    return plain_text(200, (verbose ? report.text : "") + report.remarks + well);
  };
}

}  // namespace http
