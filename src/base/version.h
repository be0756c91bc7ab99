#pragma once

#include <string>
#include <string_view>

namespace base {

// The release, as in the file VERSION: "0.1.0".
std::string_view version();

// What it was built from, as git names it: "1a2b3c4d5e6f", with "-dirty" where files were changed.
std::string_view commit();

// What `--version` of every program prints: "iprule-agent 0.1.0 (commit 1a2b3c, GCC 12.2.0, release)".
std::string version_text(std::string_view program);

}  // namespace base
