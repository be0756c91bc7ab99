#include "http/websocket.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <poll.h>
#include <sys/eventfd.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/fd.h"
#include "http/base64.h"
#include "http/dial.h"
#include "http/http1_feed.h"
#include "runtime/no_pipe_signal.h"

namespace http {
namespace {

using base::fail;
using base::Fault;
using base::now;
using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

constexpr int kSwitching = 101;
constexpr std::size_t kFramesAtOnce = 64U << 10U;

// Waits for a descriptor until the deadline, or until somebody asks to stop.
class Waiting {
 public:
  Waiting(base::TimePoint deadline, const std::stop_token& stop)
      : deadline_(deadline),
        stop_(stop),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        on_stop_(stop, [this] { (void)::eventfd_write(wake_.get(), 1); }) {}

  // `soon`: an earlier instant at which the caller wants to look again.
  base::Status for_event(int fd, short events, base::TimePoint soon = base::TimePoint::max()) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(std::min(deadline_, soon) - now());
    std::array<pollfd, 2> ready = {
        {{.fd = fd, .events = events, .revents = 0}, {.fd = wake_.get(), .events = POLLIN, .revents = 0}}};
    (void)::poll(ready.data(), ready.size(), static_cast<int>(std::clamp<long>(rest.count(), 0, 60'000)));
    return goes_on();
  }

  base::Status goes_on() const {
    if (stop_.stop_requested()) return fail(Fault::cancelled, "stopped");
    if (now() >= deadline_) return fail(Fault::timeout, "no answer in time");
    return {};
  }

 private:
  base::TimePoint deadline_;
  std::stop_token stop_;
  base::Fd wake_;
  std::stop_callback<std::function<void()>> on_stop_;
};

base::Status write_all(Wire& wire, std::string_view bytes, Waiting& waiting) {
  while (!bytes.empty()) {
    const std::size_t written = TRY(wire.write(bytes));
    bytes.remove_prefix(written);
    if (written == 0) TRY(waiting.for_event(wire.fd(), wire.wants_write() ? POLLOUT : POLLIN));
  }
  return {};
}

// What came, waiting for some.
base::Result<std::string> read_some(Wire& wire, Waiting& waiting) {
  std::string buffer(kFramesAtOnce, '\0');
  for (;;) {
    TRY(waiting.goes_on());  // Each time: there are peers that always have more to say.
    // Before any wait: TLS may hold more than poll() can see.
    const std::size_t size = TRY(wire.read(buffer));
    if (size > 0) {
      buffer.resize(size);
      return buffer;
    }
    TRY(waiting.for_event(wire.fd(), wire.wants_write() ? POLLOUT : POLLIN));
  }
}

base::Result<Wire> connect(const WebSocket::Place& place, Waiting& waiting) {
  Dial dial(place.server, place.proxy, place.tls, place.tuning.dial_timeout, now());
  for (;;) {
    const bool connected = TRY(dial.advance(now()));
    if (connected) return dial.take();
    TRY(waiting.for_event(dial.fd(), dial.events(), dial.wake_at()));
  }
}

template <std::size_t Size>
std::array<char, Size> random_bytes() {
  std::array<char, Size> out{};
  (void)::RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), Size);  // Unpredictable for proxies: no secret.
  return out;
}

// What a server makes of the client's key to show that it has understood (RFC 6455, 4.2.2).
std::string accept_of(std::string_view key) {
  const std::string text = fmt::format("{}258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
  std::array<char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  (void)::EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, ::EVP_sha1(),
                     nullptr);
  return base64({digest.data(), size});
}

std::string question(const WebSocket::Place& place, const Request& request, std::string_view key,
                     std::string_view protocols) {
  std::string out = fmt::format("GET {} HTTP/1.1\r\nhost: {}\r\n", request.target, place.server.authority());
  for (const Header& header : request.headers) out += fmt::format("{}: {}\r\n", header.name, header.value);
  return out + fmt::format(
                   "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
                   "sec-websocket-key: {}\r\nsec-websocket-protocol: {}\r\n\r\n",
                   key, protocols);
}

bool is_one_line(const Request& request) {
  const auto bad = [](std::string_view text) { return text.find_first_of("\r\n") != std::string_view::npos; };
  return !bad(request.target) && std::ranges::none_of(request.headers, [&](const Header& header) {
    return bad(header.name) || bad(header.value);
  });
}

// The server's answer; what came behind it stays in `unread`. One without a length goes on until the server leaves, and
// of any other that is cut off there is at least the status to be told.
base::Status read_answer(Wire& wire, Parser& parser, std::size_t limit, std::string& unread, Waiting& waiting) {
  using boost::beast::http::error;
  Http1Feed feed(limit);
  for (;;) {
    auto more = read_some(wire, waiting);
    if (!more && more.error().fault() == Fault::unavailable && parser.is_header_done()) return {};
    unread += TRY(std::move(more));
    boost::beast::error_code failure;
    unread.erase(0, feed.put(parser, unread, failure));
    if (!failure) return {};
    if (failure == error::need_more) continue;
    if (failure == error::header_limit || failure == error::body_limit) {
      return fail(Fault::invalid, "the server's answer is larger than we accept", EMSGSIZE);
    }
    return fail(Fault::unavailable, fmt::format("HTTP/1.1: {}", failure.message()));
  }
}

Response to_response(const Parser& parser) {
  Response out{.status = static_cast<int>(parser.get().result_int()), .headers = {}, .body = parser.get().body()};
  for (const auto& field : parser.get()) {
    std::string name(field.name_string().data(), field.name_string().size());
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
    out.headers.push_back({std::move(name), std::string(field.value().data(), field.value().size())});
  }
  return out;
}

}  // namespace

base::Result<std::variant<WebSocket, Response>> WebSocket::open(const Place& place, Request request,
                                                                std::string_view protocols, base::TimePoint deadline,
                                                                const std::stop_token& stop) {
  if (!is_one_line(request)) return fail(Fault::invalid, "a line break in the request's path or headers");
  const runtime::NoPipeSignal guard;  // For its handshake, too.
  Waiting waiting(deadline, stop);
  Wire wire = TRY(connect(place, waiting));
  const auto nonce = random_bytes<16>();
  const std::string key = base64({nonce.data(), nonce.size()});
  const auto within_server = [&](auto result) { return base::within(place.server.text(), std::move(result)); };
  TRY(within_server(write_all(wire, question(place, request, key, protocols), waiting)));

  Parser parser;
  parser.eager(true);
  parser.header_limit(static_cast<std::uint32_t>(place.tuning.max_header_bytes));
  parser.body_limit(place.tuning.max_body_bytes);
  std::string unread;
  TRY(within_server(read_answer(wire, parser, place.tuning.max_header_bytes, unread, waiting)));
  Response response = to_response(parser);
  if (response.status != kSwitching) return response;
  if (find(response.headers, "sec-websocket-accept") != accept_of(key)) {
    return fail(Fault::unavailable, place.server.text() + ": what answers there is no WebSocket");
  }
  WebSocket socket(std::move(wire), std::string(find(response.headers, "sec-websocket-protocol").value_or("")),
                   place.tuning.max_body_bytes);
  socket.frames_.add(unread);
  return socket;
}

base::Status WebSocket::send(std::string_view message, base::TimePoint deadline, const std::stop_token& stop) {
  const runtime::NoPipeSignal guard;
  return put(Frame::Kind::binary, message, deadline, stop);
}

base::Result<std::optional<std::string>> WebSocket::receive(base::TimePoint deadline, const std::stop_token& stop) {
  const runtime::NoPipeSignal guard;  // TLS answers some of what it reads.
  Waiting waiting(deadline, stop);
  std::string message;
  for (;;) {
    TRY(waiting.goes_on());  // Before each: as many may be here already as the peer likes, and none of them a message.
    const auto frame = TRY(frames_.next());
    if (!frame) {
      frames_.add(TRY(read_some(wire_, waiting)));
      continue;
    }
    if (frame->kind == Frame::Kind::close) {
      (void)put(frame->kind, frame->payload.substr(0, 2), deadline, stop);  // Polite; it may be gone already.
      return std::nullopt;
    }
    if (frame->kind == Frame::Kind::ping) {
      TRY(put(Frame::Kind::pong, frame->payload, deadline, stop));
      continue;
    }
    if (frame->kind == Frame::Kind::pong) continue;
    message += frame->payload;
    if (message.size() > largest_) return fail(Fault::invalid, "WebSocket: a message larger than we accept");
    if (frame->last) return message;
  }
}

base::Status WebSocket::put(Frame::Kind kind, std::string_view payload, base::TimePoint deadline,
                            const std::stop_token& stop) {
  Waiting waiting(deadline, stop);
  const std::string frame = encode(kind, payload, random_bytes<4>());
  for (std::string_view rest = frame; !rest.empty();) {
    const std::size_t written = TRY(wire_.write(rest));
    rest.remove_prefix(written);
    if (written > 0) continue;
    // What it says meanwhile is taken: a peer that nobody listens to may stop listening, too.
    TRY(waiting.for_event(wire_.fd(), static_cast<short>(POLLIN | (wire_.wants_write() ? POLLOUT : 0))));
    TRY(take_what_came());
  }
  return {};
}

base::Status WebSocket::take_what_came() {
  std::string buffer(kFramesAtOnce, '\0');
  const std::size_t size = TRY(wire_.read(buffer));
  frames_.add(std::string_view(buffer).substr(0, size));
  if (frames_.size() > largest_) return fail(Fault::invalid, "WebSocket: the peer says more than we accept");
  return {};
}

}  // namespace http
