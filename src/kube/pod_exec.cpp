#include "kube/pod_exec.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "http/url.h"
#include "http/websocket.h"
#include "json/reader.h"

namespace kube {
namespace {

using base::Fault;

// With v5 the end of the input can be told; servers before 1.30 know v4 only.
constexpr std::string_view kNewest = "v5.channel.k8s.io";
constexpr std::string_view kProtocols = "v5.channel.k8s.io, v4.channel.k8s.io";
constexpr char kInput = 0;
constexpr char kOutput = 1;
constexpr char kErrors = 2;
constexpr char kStatus = 3;
constexpr std::string_view kEndOfInput = {"\xff\x00", 2};
constexpr std::size_t kAtOnce = 32U << 10U;

http::Request request_of(const Key& pod, const PodCommand& command) {
  const Resource pods{"", "v1", "pods", true};
  std::string target = pods.object(pod, "exec") + "?stdout=true&stderr=true";
  if (!command.input.empty()) target += "&stdin=true";
  target += "&container=" + http::escape(command.container);
  for (const std::string& argument : command.arguments) target += "&command=" + http::escape(argument);
  return {.method = "GET", .target = std::move(target), .headers = {}, .body = {}};
}

base::Status send_input(http::WebSocket& socket, std::string_view input, const Limit& limit) {
  while (!input.empty()) {
    const std::string_view part = input.substr(0, kAtOnce);
    TRY(socket.send(std::string(1, kInput).append(part), limit.deadline, limit.stop));
    input.remove_prefix(part.size());
  }
  if (socket.protocol() == kNewest) TRY(socket.send(kEndOfInput, limit.deadline, limit.stop));
  return {};
}

// The exit code of a program that ended with another than 0; nothing where that is not what was wrong.
std::optional<int> exit_code(const ServerStatus& status) {
  const auto named = std::ranges::find(status.causes, "ExitCode", &ServerStatus::Cause::reason);
  if (status.reason != "NonZeroExitCode" || named == status.causes.end()) return std::nullopt;
  int code = 0;
  const std::string& text = named->message;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() ? std::optional(code) : std::nullopt;
}

}  // namespace

base::Status PodStreams::take(std::string_view message) {
  if (message.empty()) return {};
  const char stream = message.front();
  message.remove_prefix(1);
  if (stream == kStatus) {
    status_ = status_.value_or("").append(message);
  } else if (stream == kOutput || stream == kErrors) {
    (stream == kOutput ? outcome_.output : outcome_.errors) += message;
  }
  if (outcome_.output.size() + outcome_.errors.size() > largest_) {
    return base::fail(Fault::invalid, "the program in the pod writes more than we accept");
  }
  return {};
}

std::optional<Result<PodOutcome>> PodStreams::outcome() const {
  if (!status_) return std::nullopt;
  const auto read = [&]() -> Result<PodOutcome> {
    json::Reader reader;
    const auto root = TRY(reader.parse(*status_));
    PodOutcome out = outcome_;
    const auto word = TRY(root["status"].string());
    if (word == "Success") return out;
    const ServerStatus status = TRY(decode_status(root));
    const auto code = exit_code(status);
    if (!code) return std::unexpected(error_of(status));
    out.code = *code;
    return out;
  };
  return read();
}

Result<PodOutcome> run_in_pod(Client& client, const Key& pod, const PodCommand& command, const Limit& limit) {
  auto socket = TRY(client.open_socket(request_of(pod, command), kProtocols, limit));
  if (!command.input.empty()) TRY(send_input(socket, command.input, limit));
  PodStreams streams;
  while (true) {
    const auto message = TRY(socket.receive(limit.deadline, limit.stop));
    if (message) TRY(streams.take(*message));
    if (auto outcome = streams.outcome()) return *std::move(outcome);
    if (!message) return base::fail(Fault::unavailable, "the server closed without saying how the program ended");
  }
}

}  // namespace kube
