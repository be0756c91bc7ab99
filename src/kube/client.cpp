#include "kube/client.h"

#include <cctype>
#include <mutex>
#include <random>

#include <fmt/format.h>

#include "base/backoff.h"
#include "base/log.h"
#include "http/url.h"
#include "http/websocket.h"
#include "kube/credentials.h"
#include "runtime/signal.h"

namespace kube {
namespace {

constexpr auto kFileCheckEvery = std::chrono::seconds(1);
constexpr std::chrono::seconds kBusyWait{1};  // Where the server asks to come back and does not say when.
constexpr int kSwitching = 101;
constexpr int kUnauthorized = 401;
constexpr int kTooManyRequests = 429;
constexpr int kUnavailable = 503;
constexpr int kFirstFailure = 400;

void set_header(http::Headers& headers, std::string_view name, std::string value) {
  for (http::Header& header : headers) {
    if (header.name == name) {
      header.value = std::move(value);
      return;
    }
  }
  headers.push_back({std::string(name), std::move(value)});
}

// A key may have any characters (API server, unescapeExtraKey); HTTP/2 has names in lower case alone, and so has the
// server, which tells no other.
std::string extra_header(std::string_view key) {
  std::string out = "impersonate-extra-" + http::escape(key);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// For whoever asked to see every call. No headers and no bodies: they hold tokens and Secrets.
void log_call(const http::Request& request, int code, base::TimePoint start) {
  if (!base::log::is_logged(base::log::Level::debug)) return;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(base::SteadyClock().now() - start);
  base::log::debug("call",
                   {{"method", request.method}, {"path", request.target}, {"status", code}, {"took_ms", took.count()}});
}

// Whether the server wants to be asked the same again, and that can do no harm.
bool may_repeat(const http::Request& request, const Error& error) {
  if (error.status->code == kTooManyRequests) return true;
  return error.status->code == kUnavailable && error.status->retry_after && request.method == "GET";
}

// The rest of a failed stream: a Status, so it is short.
std::string read_rest(http::Stream& stream, const Limit& limit) {
  constexpr std::size_t kEnough = 64U << 10U;
  std::string body;
  while (body.size() < kEnough) {
    const auto part = stream.read(limit.deadline, limit.stop);
    if (!part || part->empty()) break;
    body += *part;
  }
  return body;
}

}  // namespace

// The way to the server, and who we are to it.
struct Client::Line {
  Line(const Config& of, Actor by, std::unique_ptr<Credentials> who, FileWatch files, http::TlsContext tls,
       const http::Tuning& tuning)
      : config(of),
        actor(std::move(by)),
        http(of.server, std::move(tls), tuning, of.proxy),
        credentials(std::move(who)),
        tls_files(std::move(files)),
        certificates(credentials->certificates()) {}

  void observe(const http::Request& request, int code, base::TimePoint start) const {
    if (observer) observer(request.method, code, base::SteadyClock().now() - start);
  }

  // New certificates are used from the next connection on; what cannot be used yet, half-written, is tried again later.
  void renew_tls() {
    const std::lock_guard lock(mutex);
    const auto now = base::SteadyClock().now();
    const std::uint64_t given = credentials->certificates();
    if (now < next_check && given == certificates) return;
    next_check = now + kFileCheckEvery;
    is_tls_old = tls_files.changed() || given != certificates || is_tls_old;
    certificates = given;
    if (is_tls_old) is_tls_old = !replace_tls();
  }

  bool replace_tls() {
    auto options = config.tls();
    if (!options) return false;
    credentials->apply_certificate(*options);
    auto fresh = http::TlsContext::load(*options);
    if (!fresh) return false;
    http.replace_tls(*std::move(fresh));
    return true;
  }

  const Config config;
  const Actor actor;
  CallObserver observer;
  http::Client http;
  const std::unique_ptr<Credentials> credentials;
  Storage storage;
  std::mutex mutex;  // For what follows.
  FileWatch tls_files;
  std::uint64_t certificates;  // Of the plugin, as far as they were looked at.
  bool is_tls_old = false;     // What was found new is yet to be used.
  base::TimePoint next_check{};
};

// Who we said we are.
struct Client::Shown {
  std::string token;
  std::uint64_t certificates = 0;  // The plugin's last of so many.
};

// When the calls of one client may go.
class Client::Turns {
 public:
  explicit Turns(Pace pace) : bucket_(pace), backoff_(kBusyWait, kBusyWait, std::random_device()()) {}

  std::optional<base::TimePoint> reserve(base::TimePoint latest) {
    const std::lock_guard lock(mutex_);
    return bucket_.reserve(base::SteadyClock().now(), latest);
  }

  // Those who were refused together do not come back together.
  base::Duration jitter() {
    const std::lock_guard lock(mutex_);
    return backoff_.next();
  }

 private:
  std::mutex mutex_;
  TokenBucket bucket_;
  base::Backoff backoff_;
};

base::Result<std::unique_ptr<Client>> Client::connect(const Config& config, Actor actor, Pace pace,
                                                      const http::Tuning& tuning) {
  auto credentials = std::make_unique<Credentials>(config);
  TRY(credentials->start());
  FileWatch tls_files;  // Before they are read: what is replaced from here on is noticed.
  for (const Pem* pem : {&config.ca, &config.certificate, &config.key}) {
    if (pem->data.empty()) tls_files.add(pem->file);
  }
  auto options = TRY(config.tls());
  credentials->apply_certificate(options);
  auto tls = TRY(http::TlsContext::load(options));
  if (config.insecure) {
    base::log::warning("whoever answers is taken for the API server: insecure-skip-tls-verify is set",
                       {{"server", config.server.text()}});
  }
  auto line = std::make_shared<Line>(config, std::move(actor), std::move(credentials), std::move(tls_files),
                                     std::move(tls), tuning);
  return std::unique_ptr<Client>(new Client(std::move(line), pace));
}

Client::Client(std::shared_ptr<Line> line, Pace pace) : line_(std::move(line)), turns_(std::make_unique<Turns>(pace)) {}
Client::~Client() = default;

std::unique_ptr<Client> Client::beside(Pace pace) const {
  return std::unique_ptr<Client>(new Client(line_, pace));
}

Storage& Client::storage() {
  return line_->storage;
}

void Client::observe_calls(CallObserver observer) {
  line_->observer = std::move(observer);
}

Result<std::string> Client::get(const Resource& resource, const Key& key, const Limit& limit) {
  return body(kube::get(resource, key), limit);
}

Result<std::string> Client::list(const Resource& resource, const ListRequest& request, const Limit& limit) {
  return body(kube::list(resource, request), limit);
}

Result<std::string> Client::create(const Resource& resource, std::string_view ns, std::string object,
                                   const Limit& limit, UnknownFields unknown) {
  return body(kube::create(resource, ns, std::move(object), line_->actor.field_manager, unknown), limit);
}

Result<std::string> Client::update(const Resource& resource, const Key& key, std::string object, const Limit& limit,
                                   UnknownFields unknown) {
  return body(kube::update(resource, key, {}, std::move(object), line_->actor.field_manager, unknown), limit);
}

Result<std::string> Client::update_status(const Resource& resource, const Key& key, std::string object,
                                          const Limit& limit) {
  return body(kube::update(resource, key, "status", std::move(object), line_->actor.field_manager), limit);
}

Result<std::string> Client::patch(const Resource& resource, const Key& key, PatchType type, std::string object,
                                  const Limit& limit) {
  return body(kube::patch(resource, key, {}, type, std::move(object), line_->actor.field_manager), limit);
}

Result<std::string> Client::patch_status(const Resource& resource, const Key& key, PatchType type, std::string object,
                                         const Limit& limit) {
  return body(kube::patch(resource, key, "status", type, std::move(object), line_->actor.field_manager), limit);
}

Result<std::string> Client::remove(const Resource& resource, const Key& key, const Preconditions& preconditions,
                                   const Limit& limit, std::optional<Propagation> propagation) {
  return body(kube::remove(resource, key, preconditions, propagation), limit);
}

Result<http::Stream> Client::watch(const Resource& resource, const WatchRequest& request, const Limit& limit) {
  TRY(wait_turn(limit));
  http::Request asked = address(kube::watch(resource, request));
  const Shown shown = authorize(asked, limit);
  auto stream = TRY(open(asked, limit));
  if (stream.status() == kUnauthorized && line_->credentials->renew(shown.token, shown.certificates, limit)) {
    (void)authorize(asked, limit);
    stream = TRY(open(asked, limit));
  }
  if (stream.status() < kFirstFailure) return stream;
  const http::Response failed{.status = stream.status(), .headers = stream.headers(), .body = read_rest(stream, limit)};
  return std::unexpected(failure(failed));
}

Result<http::WebSocket> Client::open_socket(http::Request request, std::string_view protocols, const Limit& limit) {
  TRY(wait_turn(limit));
  request = address(std::move(request));
  const Shown shown = authorize(request, limit);
  auto opened = TRY(change_over(request, protocols, limit));
  const auto* refusal = std::get_if<http::Response>(&opened);
  if (refusal != nullptr && refusal->status == kUnauthorized &&
      line_->credentials->renew(shown.token, shown.certificates, limit)) {
    (void)authorize(request, limit);
    opened = TRY(change_over(request, protocols, limit));
    refusal = std::get_if<http::Response>(&opened);
  }
  if (refusal != nullptr) return std::unexpected(failure(*refusal));
  return std::get<http::WebSocket>(std::move(opened));
}

Result<http::Response> Client::send(http::Request request, const Limit& limit) {
  request = address(std::move(request));
  for (;;) {
    TRY(wait_turn(limit));
    auto response = TRY(attempt(request, limit));
    if (response.status < kFirstFailure) return response;
    Error error = failure(response);
    if (!may_repeat(request, error)) return std::unexpected(std::move(error));

    const auto until = base::SteadyClock().now() + error.status->retry_after.value_or(kBusyWait) + turns_->jitter();
    if (until >= limit.deadline) return std::unexpected(std::move(error));
    (void)runtime::Signal().wait(limit.stop, until);
  }
}

Result<http::Response> Client::attempt(http::Request& request, const Limit& limit) {
  const Shown shown = authorize(request, limit);
  auto response = TRY(ask(request, limit));
  if (response.status == kUnauthorized && line_->credentials->renew(shown.token, shown.certificates, limit)) {
    (void)authorize(request, limit);
    response = TRY(ask(request, limit));
  }
  return response;
}

base::Result<http::Response> Client::ask(const http::Request& request, const Limit& limit) {
  const auto start = base::SteadyClock().now();
  auto response = line_->http.send(request, limit.deadline, limit.stop);
  log_call(request, response ? response->status : 0, start);
  line_->observe(request, response ? response->status : 0, start);
  return response;
}

base::Result<http::Stream> Client::open(const http::Request& request, const Limit& limit) {
  const auto start = base::SteadyClock().now();
  auto stream = line_->http.open(request, limit.deadline, limit.stop);
  log_call(request, stream ? stream->status() : 0, start);
  line_->observe(request, stream ? stream->status() : 0, start);
  return stream;
}

base::Result<std::variant<http::WebSocket, http::Response>> Client::change_over(const http::Request& request,
                                                                                std::string_view protocols,
                                                                                const Limit& limit) {
  auto options = TRY(line_->config.tls());
  line_->credentials->apply_certificate(options);
  options.only_http1 = true;
  const http::WebSocket::Place place{
      .server = line_->config.server, .proxy = line_->config.proxy, .tls = TRY(http::TlsContext::load(options))};
  const auto start = base::SteadyClock().now();
  auto opened = http::WebSocket::open(place, request, protocols, limit.deadline, limit.stop);
  const auto* const refusal = opened ? std::get_if<http::Response>(&*opened) : nullptr;
  log_call(request, refusal != nullptr ? refusal->status : opened ? kSwitching : 0, start);
  return opened;
}

// A server does not know that it was shown something old because there was nothing else.
Error Client::failure(const http::Response& answer) const {
  Error error = error_of(answer);
  const std::string problem = answer.status == kUnauthorized ? line_->credentials->problem() : "";
  if (problem.empty()) return error;
  auto status = std::move(*error.status);
  return {std::move(error).within("getting credentials: " + problem), std::move(status)};
}

base::Status Client::wait_turn(const Limit& limit) {
  if (limit.urgent) return {};
  const auto turn = turns_->reserve(limit.deadline);
  if (!turn) return base::fail(base::Fault::timeout, "too many calls of our own: no turn before the deadline");
  if (*turn > base::SteadyClock().now()) (void)runtime::Signal().wait(limit.stop, turn);
  return {};
}

http::Request Client::address(http::Request request) const {
  request.target = line_->config.server.path + request.target;
  request.headers.push_back({"user-agent", line_->actor.user_agent});
  const Impersonation& as = line_->config.impersonate;
  if (!as.user.empty()) request.headers.push_back({"impersonate-user", as.user});
  if (!as.uid.empty()) request.headers.push_back({"impersonate-uid", as.uid});
  for (const std::string& group : as.groups) request.headers.push_back({"impersonate-group", group});
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) request.headers.push_back({extra_header(key), value});
  }
  return request;
}

Client::Shown Client::authorize(http::Request& request, const Limit& limit) {
  // The token first: to take it is what asks a plugin again, also one that gives a certificate alone.
  Shown shown{.token = line_->credentials->token(limit), .certificates = line_->credentials->certificates()};
  line_->renew_tls();
  if (!shown.token.empty()) set_header(request.headers, "authorization", "Bearer " + shown.token);
  return shown;
}

Result<std::string> Client::body(http::Request request, const Limit& limit) {
  const std::string what = fmt::format("{} {}", request.method, request.target.substr(0, request.target.find('?')));
  auto response = send(std::move(request), limit);
  if (response) return std::move(response->body);
  Error error = std::move(response.error());
  auto status = std::move(error.status);
  Error told(std::move(error).within(what));
  told.status = std::move(status);
  return std::unexpected(std::move(told));
}

}  // namespace kube
