#include "http/client.h"

#include "http/exchange.h"
#include "http/gzip.h"
#include "http/transport.h"

namespace http {
namespace {

// A request that nobody wants any more must not reach the server: it might be a write.
base::Status unless_over(base::TimePoint deadline, const std::stop_token& stop) {
  if (stop.stop_requested()) return base::fail(base::Fault::cancelled, "stopped before the server was asked");
  if (base::now() >= deadline) return base::fail(base::Fault::timeout, "no time was left to ask the server");
  return {};
}

}  // namespace

Stream::Stream(std::shared_ptr<Exchange> exchange, std::shared_ptr<Transport> transport, std::size_t window)
    : exchange_(std::move(exchange)), transport_(std::move(transport)), window_(window) {}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  std::swap(transport_, other.transport_);
  std::swap(window_, other.window_);
  std::swap(unreported_, other.unreported_);
  return *this;
}

Stream::~Stream() {
  if (exchange_ && !exchange_->ended()) transport_->cancel(exchange_);
}

int Stream::status() const {
  return exchange_->status();
}

const Headers& Stream::headers() const {
  return exchange_->headers();
}

base::Result<std::string> Stream::read(base::TimePoint deadline, std::stop_token stop) {
  auto bytes = TRY(exchange_->read(deadline, std::move(stop)));
  report(bytes.size());
  return bytes;
}

base::Status Stream::follow(const std::function<bool(std::string_view bytes)>& take, base::TimePoint deadline,
                            std::stop_token stop) {
  const auto take_one = [&](std::string_view bytes) {
    report(bytes.size());
    return take(bytes);
  };
  return exchange_->follow(take_one, deadline, std::move(stop));
}

// Small events do not wake the transport thread each time: an eighth of the window is soon enough.
void Stream::report(std::size_t taken) {
  unreported_ += taken;
  if (unreported_ >= window_ / 8) transport_->consumed(exchange_, std::exchange(unreported_, 0));
}

Client::Client(Url server, TlsContext tls, const Tuning& tuning, std::optional<Url> proxy)
    : tuning_(tuning),
      transport_(std::make_shared<Transport>(std::move(server), std::move(tls), tuning, std::move(proxy))) {}

base::Result<Response> Client::send(Request request, base::TimePoint deadline, std::stop_token stop) {
  TRY(unless_over(deadline, stop));
  const auto exchange = std::make_shared<Exchange>(std::move(request), Exchange::Mode::whole, tuning_.max_body_bytes);
  transport_->start(exchange);
  auto response = exchange->wait_end(deadline, std::move(stop));
  if (!response && !exchange->ended()) transport_->cancel(exchange);
  if (response && find(response->headers, "content-encoding") == "gzip") {
    response->body = TRY(gunzip(response->body, tuning_.max_body_bytes));
  }
  return response;
}

base::Result<Stream> Client::open(Request request, base::TimePoint deadline, std::stop_token stop) {
  TRY(unless_over(deadline, stop));
  auto exchange = std::make_shared<Exchange>(std::move(request), Exchange::Mode::streamed, 0);
  transport_->start(exchange);
  Stream stream(exchange, transport_, tuning_.stream_window);  // Ends the request if the wait does not go well.
  TRY(exchange->wait_head(deadline, std::move(stop)));
  return stream;
}

void Client::replace_tls(TlsContext tls) {
  transport_->replace_tls(std::move(tls));
}

}  // namespace http
