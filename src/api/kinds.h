#pragma once

#include <string_view>

namespace api {

inline constexpr std::string_view kGroup = "api.operator.brtrm.dev";
inline constexpr std::string_view kVersion = "v1alpha1";
inline constexpr std::string_view kApiVersion = "api.operator.brtrm.dev/v1alpha1";

// The number that marks what is ours in the kernel, unless RULE_PROTOCOL says otherwise.
inline constexpr unsigned char kRuleProtocol = 183;

// Names shared with the old project; its objects and agents know them too.
inline constexpr std::string_view kManagedByLabel = "managed-by";
inline constexpr std::string_view kManagedByValue = "ip-rule-operator";
inline constexpr std::string_view kSpecHash = "iprule.operator.brtrm.dev/spec-hash";
inline constexpr std::string_view kCleanupPrefix = "cleanup.iprule.agent.brtrm.dev/";

// Ours, which the old project does not look at.
inline constexpr std::string_view kServiceAnnotation = "iprule.operator.brtrm.dev/service";
inline constexpr std::string_view kVipsAnnotation = "iprule.operator.brtrm.dev/vips";
inline constexpr std::string_view kAbsentSince = "iprule.operator.brtrm.dev/absent-since";

}  // namespace api
