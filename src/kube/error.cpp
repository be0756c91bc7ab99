#include "kube/error.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "kube/message.h"

namespace kube {
namespace {

using base::Fault;

constexpr std::size_t kQuoted = 200;
constexpr std::chrono::seconds kLongestWait{600};  // Whatever a server asks for.

std::optional<std::chrono::seconds> seconds(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::min(std::chrono::seconds(number), kLongestWait);
}

std::string first_part(std::string_view text) {
  std::string out(text.substr(0, kQuoted));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c == 0x7f; }, ' ');
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

base::Result<ServerStatus> parse_status(std::string_view body) {
  const auto unless = [](bool is_status) -> base::Status {
    return is_status ? base::Status() : base::fail(Fault::invalid, "not a Status");
  };
  json::Reader reader;
  if (is_message(body)) {
    const auto envelope = TRY(open_envelope(body));
    TRY(unless(envelope.kind == "Status"));
    return decode_status(TRY(reader.parse(envelope.object, kStatusMessage)));
  }
  const auto root = TRY(reader.parse(body));
  const auto kind = TRY(root["kind"].string());
  TRY(unless(kind == "Status"));
  return decode_status(root);
}

namespace field = json::field;

constexpr json::Schema kCause{field::text(1, "reason"), field::text(2, "message"), field::text(3, "field")};
constexpr json::Schema kDetails{field::messages(4, "causes", kCause), field::number(5, "retryAfterSeconds")};

}  // namespace

constexpr json::Schema kStatusMessage{field::text(3, "message"), field::text(4, "reason"),
                                      field::message(5, "details", kDetails), field::number(6, "code")};

bool ServerStatus::has_cause(std::string_view cause_reason) const {
  return std::ranges::any_of(causes, [&](const Cause& cause) { return cause.reason == cause_reason; });
}

Fault fault_of(const ServerStatus& status) {
  switch (status.code) {
    case 401:
    case 403:
      return Fault::denied;
    case 404:
      return Fault::absent;
    case 409:
      return Fault::conflict;
    case 410:
      return Fault::expired;
    case 408:
    case 504:
      return Fault::timeout;
    case 429:
      return Fault::unavailable;
    default:
      return status.code >= 400 && status.code < 500 ? Fault::invalid : Fault::unavailable;
  }
}

base::Result<ServerStatus> decode_status(const json::Value& object) {
  ServerStatus out;
  out.code = TRY(object["code"].integer_or(0));
  out.reason = TRY(object["reason"].string_or(""));
  out.message = TRY(object["message"].string_or(""));
  const auto details = object["details"];
  if (!details.exists()) return out;
  if (const int wait = TRY(details["retryAfterSeconds"].integer_or(0)); wait > 0) {
    out.retry_after = std::min(std::chrono::seconds(wait), kLongestWait);
  }
  for (const auto& cause : TRY(details["causes"].items_or_none())) {
    out.causes.push_back({
        .reason = std::string(TRY(cause["reason"].string_or(""))),
        .message = std::string(TRY(cause["message"].string_or(""))),
        .field = std::string(TRY(cause["field"].string_or(""))),
    });
  }
  return out;
}

Error error_of(ServerStatus status) {
  const std::string reason = status.reason.empty() ? "" : status.reason + ": ";
  base::Error error(fault_of(status), fmt::format("{} {}{}", status.code, reason, status.message));
  return {std::move(error), std::move(status)};
}

Error error_of(const http::Response& response) {
  ServerStatus status;
  if (auto parsed = parse_status(response.body)) {
    status = *std::move(parsed);
  } else {
    status.message = first_part(response.body);
  }
  status.code = response.status;  // What HTTP says is what was decided upon.
  if (const auto header = http::find(response.headers, "retry-after"); header && !status.retry_after) {
    status.retry_after = seconds(*header);
  }
  return error_of(std::move(status));
}

}  // namespace kube
