#include "kernel/sysctl.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/file.h"

namespace kernel {
namespace {

// The kernel shows the network namespace of the thread that opens the file.
std::string file_of(const state::Sysctl& sysctl) {
  return "/proc/sys/" + state::path(sysctl);
}

base::Status write_value(const state::Sysctl& sysctl) {
  base::Fd file(::open(file_of(sysctl).c_str(), O_WRONLY | O_CLOEXEC));
  const std::string value = fmt::to_string(sysctl.value);
  if (file && ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) return {};
  const int error = errno;
  const bool denied = error == EROFS || error == EACCES || error == EPERM;
  return base::fail(denied            ? base::Fault::denied
                    : error == ENOENT ? base::Fault::absent
                                      : base::Fault::kernel,
                    fmt::format("sysctl -w {}={}: {}", state::path(sysctl), value, base::errno_name(error)), error);
}

}  // namespace

base::Result<std::int32_t> read_sysctl(const state::Sysctl& key) {
  const std::string text = TRY(base::read_file(file_of(key), 64));
  std::int32_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
  return base::fail(base::Fault::kernel, fmt::format("{} is \"{}\"", state::path(key), text));
}

base::Status write_sysctl(const state::Sysctl& sysctl) {
  TRY(state::validate(sysctl));
  if (TRY(read_sysctl(sysctl)) == sysctl.value) return {};
  return write_value(sysctl);
}

base::Result<std::int32_t> effective_rp_filter(const net::InterfaceName& dev) {
  const auto own = TRY(read_sysctl({.family = net::Family::v4, .name = state::SysctlName::rp_filter, .dev = dev}));
  const auto all = TRY(read_sysctl({.family = net::Family::v4, .name = state::SysctlName::rp_filter}));
  return std::max(own, all);
}

}  // namespace kernel
