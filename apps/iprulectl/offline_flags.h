#pragma once

#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace iprulectl {

// --offline --state DIR: neither a cluster nor a kernel is asked, dumps tell.
struct OfflineFlags {
  bool offline = false;
  std::filesystem::path state;

  bool is_meant() const { return offline || !state.empty(); }
  // The folder; an error where nobody said which.
  base::Result<std::filesystem::path> folder() const;
};

// `others` ask something, so they do not go with these.
void add_offline_flags(CLI::App& word, OfflineFlags& flags, const std::vector<CLI::Option*>& others);

}  // namespace iprulectl
