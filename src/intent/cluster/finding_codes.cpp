#include "intent/cluster/finding_codes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace intent {
namespace {

struct Page {
  std::string_view reason;
  std::string_view code;
};
constexpr std::array<Page, 18> kPages = {{
    // Conditions of IPRules.
    {"InvalidCIDR", "IPR0201"},
    {"PartiallyInvalid", "IPR0201"},
    {"PriorityConflict", "IPR0101"},
    {"EmptyTable", "IPR0311"},
    {"RoutesMissing", "IPR0311"},
    {"SourceNeverSeen", "IPR0301"},
    {"StrictReversePath", "IPR0310"},
    {"PriorityAfterMain", "IPR0404"},
    {"NoMatchingNodes", "IPR0401"},
    {"NoEffect", "IPR0403"},
    // Of nodes.
    {"ForeignRule", "IPR0105"},
    {"RepeatedRepairs", "IPR0314"},
    {"Repeating", "IPR0314"},
    {"NoFreeMark", "IPR0317"},
    {"PriorityTooLow", "IPR0318"},
    {"NoNftables", "IPR0319"},
    {"TooManyRules", "IPR0320"},
    {"ProtectedSource", "IPR0501"},
}};

}  // namespace

std::string_view finding_code(std::string_view reason) {
  const auto* const page = std::ranges::find(kPages, reason, &Page::reason);
  return page != kPages.end() ? page->code : "";
}

std::string with_code(std::string message, std::string_view code) {
  if (code.empty() || message.contains(code)) return message;
  return fmt::format("{} ({})", message, code);
}

}  // namespace intent
