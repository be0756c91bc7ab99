#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "json/message.h"
#include "json/reader.h"

namespace kube {

// What the API server says about a failure (meta/v1 Status).
struct ServerStatus {
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;
  };

  int code = 0;
  std::string reason;  // "AlreadyExists", "Conflict", "Expired", ...
  std::string message;
  std::vector<Cause> causes;
  std::optional<std::chrono::seconds> retry_after;

  bool has_cause(std::string_view cause_reason) const;
};

// A base::Error that remembers the server's words; it turns into a plain one wherever nobody needs them.
struct Error : base::Error {
  Error(base::Error error) : base::Error(std::move(error)) {}  // NOLINT(google-explicit-constructor): see above.
  Error(base::Error error, ServerStatus said) : base::Error(std::move(error)), status(std::move(said)) {}

  std::optional<ServerStatus> status;  // None: no answer came.
};

template <typename T>
using Result = std::expected<T, Error>;

base::Fault fault_of(const ServerStatus& status);

// A Status object, as in the body of a failed answer or in a watch's ERROR event.
base::Result<ServerStatus> decode_status(const json::Value& object);
extern const json::Schema kStatusMessage;

// The error in an answer that is no success. A body that is no Status (a proxy's page) is quoted in part.
Error error_of(const http::Response& response);
Error error_of(ServerStatus status);

}  // namespace kube
