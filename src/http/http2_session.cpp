#include "http/http2_session.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

namespace http {

using base::fail;
using base::Fault;

namespace {

constexpr std::size_t kKeptCapacity = 16U << 10U;  // Of a stream's buffer, between two pieces.

// nghttp2 takes mutable pointers and copies: nothing is changed through them.
std::uint8_t* bytes(std::string_view text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> fields(const Request& request, std::string_view scheme, std::string_view authority) {
  std::vector<nghttp2_nv> out = {field(":method", request.method), field(":scheme", scheme),
                                 field(":authority", authority), field(":path", request.target)};
  for (const Header& header : request.headers) out.push_back(field(header.name, header.value));
  return out;
}

bool starts_response(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS &&
         (frame.headers.cat == NGHTTP2_HCAT_RESPONSE || frame.headers.cat == NGHTTP2_HCAT_HEADERS);
}

}  // namespace

struct Http2Session::Callbacks {
  static Stream* stream(void* user, std::int32_t id) {
    auto& streams = static_cast<Http2Session*>(user)->streams_;
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Stream* const stream = Callbacks::stream(user, frame->hd.stream_id);
    if (stream != nullptr && !stream->head_done) stream->headers.clear();  // After an interim 1xx answer.
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    Stream* const stream = Callbacks::stream(user, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->header_bytes += name_size + value_size + 32;  // As RFC 9113, 6.5.2 counts; trailers too.
    if (stream->header_bytes > static_cast<Http2Session*>(user)->tuning_.max_header_bytes) {
      stream->too_large = true;
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // Resets this stream only.
    }
    if (stream->head_done) return 0;  // Trailers say nothing we need.
    const auto key = view(name, name_size);
    const auto text = view(value, value_size);
    if (key == ":status") {
      (void)std::from_chars(text.data(), text.data() + text.size(), stream->status);  // nghttp2 checked the digits.
    } else {
      stream->headers.push_back({std::string(key), std::string(text)});
    }
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& self = *static_cast<Http2Session*>(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.going_away_ = true;

    Stream* const stream = Callbacks::stream(user, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (starts_response(*frame) && !stream->head_done && stream->status >= 200) {
      stream->head_done = true;
      stream->exchange->deliver_head(stream->status, std::move(stream->headers));
    }
    const bool carries_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->ended = true;
    return 0;
  }

  static int data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                  void* user) {
    // The connection's window reopens at once, a stream's own only as its reader takes the bytes: so a slow reader
    // stops its own stream and no other.
    (void)nghttp2_session_consume_connection(session, size);  // Fails only for want of memory, which aborts.
    Stream* const stream = Callbacks::stream(user, id);
    if (stream == nullptr || stream->abandoned) return 0;
    if (stream->exchange->mode() == Exchange::Mode::streamed) {
      stream->fresh += view(data, size);
      return 0;
    }
    if (!stream->exchange->deliver_data(view(data, size))) {
      stream->too_large = true;
      return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    }
    (void)nghttp2_session_consume_stream(session, id, size);
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t error_code, void* user) {
    static_cast<Http2Session*>(user)->close(id, error_code);
    return 0;
  }

  static ssize_t body(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const std::string_view rest = std::string_view(stream.exchange->request().body).substr(stream.sent);
    const std::size_t part = std::min(size, rest.size());
    std::memcpy(out, rest.data(), part);
    stream.sent += part;
    if (part == rest.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }
};

Http2Session::Http2Session(std::string scheme, std::string authority, const Tuning& tuning)
    : scheme_(std::move(scheme)), authority_(std::move(authority)), tuning_(tuning) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) std::abort();
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::closed);
  nghttp2_option_set_no_auto_window_update(option, 1);
  if (nghttp2_session_client_new2(&session_, callbacks, this, option) != 0) std::abort();
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, tuning.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(tuning.max_header_bytes)},
  };
  (void)nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  (void)nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                              static_cast<std::int32_t>(tuning.connection_window));
}

Http2Session::~Http2Session() {
  nghttp2_session_del(session_);
}

void Http2Session::start(std::shared_ptr<Exchange> exchange) {
  ++exchange->attempts;
  const Request& request = exchange->request();
  const auto nvs = fields(request, scheme_, authority_);
  Stream stream;
  stream.exchange = std::move(exchange);
  // The id is known only after the call, the address of the stream must be known before it.
  const auto id = static_cast<std::int32_t>(nghttp2_session_get_next_stream_id(session_));
  const auto [entry, fresh] = streams_.try_emplace(id, std::move(stream));
  nghttp2_data_provider provider{.source = {.ptr = &entry->second}, .read_callback = Callbacks::body};
  const std::int32_t given = nghttp2_submit_request(session_, nullptr, nvs.data(), nvs.size(),
                                                    request.body.empty() ? nullptr : &provider, nullptr);
  if (given == id && fresh) return;

  // Stream ids are used up after 2^30 requests: another connection has fresh ones.
  going_away_ = true;
  refused_.push_back(std::move(entry->second.exchange));
  streams_.erase(entry);
}

bool Http2Session::cancel(const Exchange& exchange) {
  const std::int32_t id = id_of(exchange);
  if (id == 0) return false;
  streams_.at(id).abandoned = true;
  (void)nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  return true;
}

bool Http2Session::consumed(const Exchange& exchange, std::size_t bytes) {
  const std::int32_t id = id_of(exchange);
  if (id == 0) return false;
  (void)nghttp2_session_consume_stream(session_, id, bytes);
  return true;
}

bool Http2Session::ping() {
  (void)nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  return true;
}

base::Status Http2Session::receive(std::string_view bytes) {
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // The reader is woken once for all that came, not for each frame.
  for (auto& [id, stream] : streams_) deliver(stream);
  if (taken < 0) return fail(Fault::unavailable, fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(taken))));
  return {};
}

void Http2Session::deliver(Stream& stream) {
  if (stream.fresh.empty()) return;
  (void)stream.exchange->deliver_data(stream.fresh);
  stream.fresh.clear();
  if (stream.fresh.capacity() > kKeptCapacity) stream.fresh.shrink_to_fit();  // A list has passed; events need less.
}

base::Result<std::string_view> Http2Session::outgoing() {
  const std::uint8_t* data = nullptr;
  const ssize_t size = nghttp2_session_mem_send(session_, &data);
  if (size < 0) return fail(Fault::unavailable, fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(size))));
  return view(data, static_cast<std::size_t>(size));
}

bool Http2Session::over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void Http2Session::fail_all(const base::Error& error) {
  for (auto& [id, stream] : std::exchange(streams_, {})) stream.exchange->fail(error);
}

std::int32_t Http2Session::id_of(const Exchange& exchange) const {
  const auto found =
      std::ranges::find_if(streams_, [&](const auto& entry) { return entry.second.exchange.get() == &exchange; });
  return found == streams_.end() ? 0 : found->first;
}

void Http2Session::close(std::int32_t id, std::uint32_t error_code) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream stream = std::move(found->second);
  streams_.erase(found);
  deliver(stream);
  if (stream.abandoned) {
    stream.exchange->fail({Fault::cancelled, "the request was given up"});
  } else if (stream.too_large) {
    stream.exchange->fail({Fault::invalid, "the server's answer is larger than we accept", EMSGSIZE});
  } else if (stream.ended && stream.head_done) {
    stream.exchange->finish();  // Whatever code follows the last byte, the answer is whole.
  } else if (error_code == NGHTTP2_REFUSED_STREAM && !stream.head_done) {
    refused_.push_back(stream.exchange);
  } else {
    stream.exchange->fail(
        {Fault::unavailable, fmt::format("the server reset the stream: {}", nghttp2_http2_strerror(error_code))});
  }
}

}  // namespace http
