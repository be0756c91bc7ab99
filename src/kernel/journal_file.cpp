#include "kernel/journal_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/sha256.h"

namespace kernel {
namespace {

base::Status sync(const std::filesystem::path& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return base::fail_errno(fmt::format("sync {}", path.native()), errno);
  return {};
}

// The checksum covers all that the first line says as well.
std::string checksum(const JournalFormat& format, std::string_view boot, std::string_view contents) {
  return base::sha256_hex(fmt::format("{} {} {}\n{}", format.name, format.version, boot, contents));
}

std::string_view next_word(std::string_view& rest, char end) {
  const std::string_view word = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::unexpected<base::Error> broken(const std::filesystem::path& path, std::string_view why) {
  return base::fail(base::Fault::invalid, fmt::format("{}: {}, so what it held is unknown", path.native(), why));
}

}  // namespace

base::Status write_journal_file(const std::filesystem::path& path, const JournalFormat& format, std::string_view boot,
                                std::string_view contents) {
  const std::filesystem::path temporary = path.native() + ".new";
  TRY(base::write_file(temporary, fmt::format("{} {} {} {}\n{}", format.name, format.version, boot,
                                              checksum(format, boot, contents), contents)));
  TRY(sync(temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return base::fail_errno(fmt::format("rename {}", temporary.native()), errno);
  }
  return sync(path.parent_path());
}

base::Result<std::optional<std::string>> read_journal_file(const std::filesystem::path& path,
                                                           const JournalFormat& format, std::string_view boot) {
  const auto file = base::read_file(path);
  if (!file && file.error().errno_value() == ENOENT) return std::nullopt;
  if (!file) return std::unexpected(file.error());
  std::string_view rest = *file;
  const bool is_ours = next_word(rest, ' ') == format.name;
  const bool is_this_version = next_word(rest, ' ') == fmt::to_string(format.version);
  if (!is_ours || !is_this_version) return broken(path, "is no file of this version");
  const std::string_view written_in = next_word(rest, ' ');
  const std::string_view sum = next_word(rest, '\n');
  if (sum != checksum(format, written_in, rest)) return broken(path, "does not match its checksum");
  if (written_in != boot) return std::nullopt;
  return std::string(rest);
}

base::Status remove_journal_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return base::fail_errno(fmt::format("remove {}", path.native()), errno);
  }
  return sync(path.parent_path());
}

base::Result<std::string> boot_id() {
  std::string id = TRY(base::read_file("/proc/sys/kernel/random/boot_id", 64));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace kernel
