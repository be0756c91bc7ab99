#include "base/result.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace base {

std::string_view text(Fault fault) {
  switch (fault) {
    case Fault::invalid:
      return "invalid";
    case Fault::absent:
      return "absent";
    case Fault::conflict:
      return "conflict";
    case Fault::expired:
      return "expired";
    case Fault::denied:
      return "denied";
    case Fault::unavailable:
      return "unavailable";
    case Fault::timeout:
      return "timeout";
    case Fault::cancelled:
      return "cancelled";
    case Fault::kernel:
      return "kernel";
    case Fault::bug:
      return "bug";
  }
  return "bug";
}

Error Error::within(std::string_view context) && {
  message_ = fmt::format("{}: {}", context, message_);
  return std::move(*this);
}

std::unexpected<Error> fail(Fault fault, std::string message, int errno_value) {
  return std::unexpected(Error(fault, std::move(message), errno_value));
}

std::unexpected<Error> fail_errno(std::string_view call, int errno_value) {
  const Fault fault = errno_value == ENOENT                           ? Fault::absent
                      : errno_value == EACCES || errno_value == EPERM ? Fault::denied
                                                                      : Fault::unavailable;
  return fail(fault, fmt::format("{}: {}", call, errno_text(errno_value)), errno_value);
}

std::string errno_text(int errno_value) {
  return std::strerror(errno_value);  // NOLINT(concurrency-mt-unsafe): glibc's is safe.
}

std::string errno_name(int errno_value) {
  const char* name = ::strerrorname_np(errno_value);
  return name != nullptr ? name : fmt::format("errno {}", errno_value);
}

}  // namespace base
