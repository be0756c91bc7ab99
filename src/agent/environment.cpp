#include "agent/environment.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "api/duration.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kShortestPeriod = 1s;  // Less would only keep the machine busy.
// Below are the kernel's own protocols and those of `ip` (RTPROT_UNSPEC to RTPROT_STATIC): rules without an owner.
constexpr std::uint32_t kFirstProtocol = 5;

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

class Reader {
 public:
  Reader(const Environment::Variables& variables, Environment& out) : variables_(variables), out_(out) {}

  void period() {
    const auto text = variables_("RECONCILE_PERIOD");
    if (!text || text->empty()) return;
    const auto given = api::parse_duration(*text);
    if (!given) return complain("RECONCILE_PERIOD", *text, "a duration such as 10s or 1m30s", "10s");
    out_.reconcile_period = std::chrono::duration_cast<std::chrono::milliseconds>(*given);
    if (out_.reconcile_period >= kShortestPeriod) return;
    out_.reconcile_period = kShortestPeriod;
    complain("RECONCILE_PERIOD", *text, "1s or more", "1s");
  }

  void metrics() {
    const auto text = variables_("METRICS_ADDR");
    if (!text) return;
    if (text->empty() || *text == "0") {
      out_.metrics.reset();
    } else if (const auto given = http::ListenAddress::parse(*text)) {
      out_.metrics = *given;
    } else {
      // Not the node's own address, although that is less: where the pod's probes ask, nobody would answer, and kubelet
      // would end the agent again and again. The controller hands out only what can be read.
      complain("METRICS_ADDR", *text, "an address with a port such as :9090, or empty for none", ":9090");
    }
  }

  void protocol() {
    const auto text = variables_("RULE_PROTOCOL");
    if (!text || text->empty()) return;
    const auto given = number(*text);
    if (given && *given >= kFirstProtocol && *given <= std::numeric_limits<std::uint8_t>::max()) {
      out_.rule_protocol = static_cast<std::uint8_t>(*given);
    } else {
      complain("RULE_PROTOCOL", *text, "a number from 5 to 255", "183");
    }
  }

  void priority() {
    const auto text = variables_("DEFAULT_PRIORITY");
    if (!text || text->empty()) return;
    const auto given = number(*text);
    if (given && *given > 0) {
      out_.default_priority = *given;
    } else {
      complain("DEFAULT_PRIORITY", *text, "a priority from 1 to 4294967295", "32765");
    }
  }

  void log_level() {
    const auto text = variables_("LOG_LEVEL");
    if (!text || text->empty()) return;
    if (const auto given = base::log::parse_level(*text)) {
      out_.log_level = *given;
    } else {
      complain("LOG_LEVEL", *text, "debug, info, warning or error", "info");
    }
  }

 private:
  void complain(std::string_view name, std::string_view value, std::string_view wanted, std::string_view instead) {
    out_.complaints.push_back(fmt::format("{}: \"{}\" is not {}; {} counts", name, value, wanted, instead));
  }

  const Environment::Variables& variables_;
  Environment& out_;
};

}  // namespace

Environment Environment::read(const Variables& variables) {
  Environment out;
  Reader reader(variables, out);
  reader.period();
  reader.metrics();
  reader.protocol();
  reader.priority();
  reader.log_level();
  out.pod_namespace = variables("POD_NAMESPACE").value_or("");
  return out;
}

Environment Environment::of_process() {
  return read([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start, nobody sets any.
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
}

}  // namespace agent
