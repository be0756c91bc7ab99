#include "http/http1_session.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

#include "http/http1_feed.h"

namespace http {
namespace {

using base::Fault;
using boost::beast::http::error;
using ErrorCode = boost::beast::error_code;

constexpr int kFirstFinal = 200;  // Below are interim answers.
constexpr std::string_view kContentLength = "content-length";
constexpr std::size_t kKeptByIdle = 16U << 10U;

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// What holds a line break would be read as another header, or another request.
bool is_one_line(std::string_view text) {
  return text.find_first_of("\r\n") == std::string_view::npos;
}

bool can_be_said(const Request& request) {
  return is_one_line(request.target) && std::ranges::all_of(request.headers, [](const Header& header) {
           return is_one_line(header.name) && is_one_line(header.value);
         });
}

std::string encode(const Request& request, std::string_view authority) {
  std::string out = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\n", request.method, request.target, authority);
  for (const Header& header : request.headers) {
    if (header.name == kContentLength) continue;  // Strict proxies refuse a request that says it twice.
    out += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  // Without a length some proxies wait for a body that a POST may have.
  if (request.method != "GET" || !request.body.empty())
    out += fmt::format("{}: {}\r\n", kContentLength, request.body.size());
  return out + "\r\n" + request.body;
}

}  // namespace

class Http1Session::Parser final : public boost::beast::http::basic_parser<false> {
 public:
  Parser(Exchange& exchange, const Tuning& tuning, std::size_t& unread)
      : feed_(tuning.max_header_bytes), exchange_(exchange), unread_(unread) {
    eager(true);
    header_limit(static_cast<std::uint32_t>(tuning.max_header_bytes));
    body_limit(std::numeric_limits<std::uint64_t>::max());  // The exchange has its own.
    skip(exchange.request().method == "HEAD");
  }

  std::size_t take(std::string_view bytes, ErrorCode& failure) { return feed_.put(*this, bytes, failure); }
  bool is_interim() const { return status_ < kFirstFinal; }

 private:
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int code, Text, int, ErrorCode&) override { status_ = code; }
  void on_field_impl(boost::beast::http::field, Text name, Text value, ErrorCode&) override {
    if (!is_header_done()) headers_.push_back({lower(view(name)), std::string(view(value))});  // Not of trailers.
  }
  void on_header_impl(ErrorCode&) override {
    if (!is_interim()) exchange_.deliver_head(status_, std::move(headers_));
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text bytes, ErrorCode& failure) override { return deliver(bytes, failure); }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, ErrorCode& failure) override {
    return deliver(bytes, failure);
  }
  void on_finish_impl(ErrorCode&) override {}

  std::size_t deliver(Text bytes, ErrorCode& failure) {
    if (!exchange_.deliver_data(view(bytes))) failure = error::body_limit;
    if (exchange_.mode() == Exchange::Mode::streamed) unread_ += bytes.size();
    return bytes.size();
  }

  Http1Feed feed_;
  Exchange& exchange_;
  std::size_t& unread_;
  int status_ = 0;
  Headers headers_;
};

Http1Session::Http1Session(std::string authority, const Tuning& tuning)
    : authority_(std::move(authority)), tuning_(tuning) {}

Http1Session::~Http1Session() = default;

void Http1Session::start(std::shared_ptr<Exchange> exchange) {
  ++exchange->attempts;
  if (!can_be_said(exchange->request())) {
    return exchange->fail({Fault::invalid, "a line break in the request's path or headers"});
  }
  exchange_ = std::move(exchange);
  unsent_ += encode(exchange_->request(), authority_);
  unread_ = 0;
  expect_answer();
}

bool Http1Session::cancel(const Exchange& exchange) {
  if (exchange_.get() != &exchange) return false;
  fail_all({Fault::cancelled, "the request was given up"});
  return true;
}

bool Http1Session::consumed(const Exchange& exchange, std::size_t bytes) {
  if (exchange_.get() != &exchange) return false;
  unread_ -= std::min(bytes, unread_);
  return true;
}

base::Status Http1Session::receive(std::string_view bytes) {
  unparsed_ += bytes;
  while (!unparsed_.empty()) {
    if (is_unasked()) return base::fail(Fault::unavailable, "HTTP/1.1: the server speaks without being asked");
    ErrorCode failure;
    unparsed_.erase(0, parser_->take(unparsed_, failure));
    if (failure == error::need_more) return {};
    if (failure == error::header_limit || failure == error::body_limit) {
      return refuse({Fault::invalid, "the server's answer is larger than we accept", EMSGSIZE});
    }
    if (failure) return refuse({Fault::unavailable, fmt::format("HTTP/1.1: {}", failure.message())});
    finish();
  }
  return {};
}

void Http1Session::input_ended() {
  if (!exchange_ || !parser_->got_some()) return;
  ErrorCode failure;
  parser_->put_eof(failure);  // The end of a body that has neither length nor chunks.
  if (!failure && parser_->is_done()) finish();
}

// A request of which nothing has left goes elsewhere, where it was the first no more: that a connection ends between
// two requests is in good order (RFC 9112, 9.3.1 and 9.5). To a server that leaves before the first one it is not
// repeated, for what it said then is what the caller has to know.
void Http1Session::input_lost() {
  over_ = true;
  const bool is_unsent = !std::exchange(unsent_, {}).empty();
  if (is_unsent && served_ && exchange_) refused_.push_back(std::exchange(exchange_, {}));
}

base::Result<std::string_view> Http1Session::outgoing() {
  // Not by an assignment, which would keep the space of the last request, however large that was.
  std::exchange(unsent_, {}).swap(sent_);
  return sent_;
}

void Http1Session::fail_all(const base::Error& error) {
  over_ = true;
  unsent_.clear();  // Nobody waits for the answer, and it may be a write.
  if (const auto exchange = std::exchange(exchange_, {})) exchange->fail(error);
}

void Http1Session::expect_answer() {
  parser_ = std::make_unique<Parser>(*exchange_, tuning_, unread_);
}

void Http1Session::finish() {
  if (parser_->is_interim()) return expect_answer();
  over_ = over_ || !parser_->keep_alive();
  served_ = true;
  if (unparsed_.capacity() > kKeptByIdle) unparsed_.shrink_to_fit();  // A large answer has passed.
  std::exchange(exchange_, {})->finish();
}

base::Status Http1Session::refuse(const base::Error& error) {
  fail_all(error);
  return std::unexpected(error);
}

}  // namespace http
