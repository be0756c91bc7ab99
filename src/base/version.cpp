#include "base/version.h"

#include <fmt/format.h>

namespace base {
namespace {

#include "base/build_stamp.inc"

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

std::string_view version() {
  return kVersion;
}

std::string_view commit() {
  return kCommit;
}

std::string version_text(std::string_view program) {
  return fmt::format("{} {} (commit {}, {}, {})", program, kVersion, kCommit, kCompiler, kBuildType);
}

}  // namespace base
