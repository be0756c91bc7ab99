#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kernel {

// A small file that is either whole or known to be broken: written to a temporary one, synced, renamed, and closed with
// a checksum. Its first line says what it is, in which version, and in which boot of the machine it was written: what
// it says about the kernel ends with that boot.
struct JournalFormat {
  std::string_view name{};  // One word.
  int version = 1;
};

// After success the contents survive a power loss; after failure the old file is untouched.
base::Status write_journal_file(const std::filesystem::path& path, const JournalFormat& format, std::string_view boot,
                                std::string_view contents);

// None if there is no file, or one of another boot. A file that cannot be read, is cut or changed, or has another name
// or version is an error: then nobody knows what was in it, and nothing may be concluded.
base::Result<std::optional<std::string>> read_journal_file(const std::filesystem::path& path,
                                                           const JournalFormat& format, std::string_view boot);

// Removes the file for good; one that is not there is fine.
base::Status remove_journal_file(const std::filesystem::path& path);

// The machine's present boot, as the kernel names it.
base::Result<std::string> boot_id();

}  // namespace kernel
