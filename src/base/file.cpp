#include "base/file.h"

#include <array>
#include <cerrno>
#include <fcntl.h>

#include <fmt/format.h>

#include "base/fd.h"

namespace base {

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(fmt::format("open {}", path.native()), errno);
  std::string contents;
  std::array<char, 8192> buffer;
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(fmt::format("read {}", path.native()), errno);
    if (count == 0) return contents;
    contents.append(buffer.data(), static_cast<std::size_t>(count));
    if (contents.size() > limit)
      return fail(Fault::invalid, fmt::format("{}: larger than {} bytes", path.native(), limit));
  }
}

Status write_file(const std::filesystem::path& path, std::string_view contents) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(fmt::format("open {}", path.native()), errno);
  while (!contents.empty()) {
    const ssize_t count = ::write(fd.get(), contents.data(), contents.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(fmt::format("write {}", path.native()), errno);
    contents.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace base
