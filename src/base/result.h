#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace base {

// What the caller can do about it; never where it came from.
enum class Fault {
  invalid,      // The input is wrong: nothing helps but other input.
  absent,       // The thing is not there.
  conflict,     // Somebody else changed it: read again, decide again.
  expired,      // The version asked for is too old: list again.
  denied,       // No permission: retrying alone does not help.
  unavailable,  // The peer is away or overloaded: retry with back-off.
  timeout,      // The deadline passed; whether the work was done is unknown.
  cancelled,    // The caller asked to stop.
  kernel,       // The kernel refused, errno and its own words inside.
  bug,          // A promise inside this program was broken.
};

std::string_view text(Fault fault);

class Error {
 public:
  Error(Fault fault, std::string message, int errno_value = 0)
      : fault_(fault), errno_(errno_value), message_(std::move(message)) {}

  Fault fault() const { return fault_; }
  int errno_value() const { return errno_; }
  const std::string& message() const { return message_; }

  // The same error, with what was being done in front: "apply rule 500: kernel: EEXIST".
  Error within(std::string_view context) &&;

 private:
  Fault fault_;
  int errno_;
  std::string message_;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

std::unexpected<Error> fail(Fault fault, std::string message, int errno_value = 0);

// The errno of a failed system call: "open /run/x: No such file or directory".
std::unexpected<Error> fail_errno(std::string_view call, int errno_value);

std::string errno_text(int errno_value);  // "File exists"

// "EEXIST", or "errno 250" for one without a name.
std::string errno_name(int errno_value);

template <typename T>
Result<T> within(std::string_view context, Result<T> result) {
  if (result) return result;
  return std::unexpected(std::move(result).error().within(context));
}

namespace detail {
template <typename T, typename E>
T take(std::expected<T, E>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}
}  // namespace detail

}  // namespace base

// The value of a Result, or return its error from the enclosing function. (A statement expression: GCC 12's
// std::expected has no and_then, and this reads in the order things happen.)
#define TRY(...)                                                            \
  __extension__({                                                           \
    auto try_result = (__VA_ARGS__);                                        \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
    ::base::detail::take(std::move(try_result));                            \
  })
