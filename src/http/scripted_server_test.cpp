#include "http/scripted_server_test.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/eventfd.h>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "http/resolve.h"

namespace http {
namespace {

std::uint8_t* bytes(const std::string& text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

std::string pem(const std::function<void(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  const char* data = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, int nid, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()), X509_EXTENSION_free);
  X509_add_ext(certificate, extension.get(), -1);
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*, unsigned int,
                    void* speaks) {
  const std::string_view name =
      *static_cast<ScriptedServer::Speaks*>(speaks) == ScriptedServer::Speaks::http2 ? "h2" : "http/1.1";
  *out = reinterpret_cast<const unsigned char*>(name.data());
  *size = static_cast<unsigned char>(name.size());
  return SSL_TLSEXT_ERR_OK;
}

// What was large once would be kept as long as the connection. Not by `= {}`, which leaves its room where it is.
void empty(std::string& buffer) {
  constexpr std::size_t kKept = 64U << 10U;
  buffer.clear();
  if (buffer.capacity() > kKept) buffer.shrink_to_fit();
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The first request of `input`, which is shortened by it; nothing while some of it is still to come. Written for our
// own client: no chunks, no folded lines.
std::optional<Request> next_request(std::string& input) {
  const auto end = input.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  std::istringstream head(input.substr(0, end));
  Request out;
  std::size_t length = 0;
  std::string version;
  head >> out.method >> out.target >> version;
  std::string line;
  std::getline(head, line);
  while (std::getline(head, line)) {
    if (line.ends_with('\r')) line.pop_back();
    const auto colon = line.find(": ");
    out.headers.push_back({lower(line.substr(0, colon)), line.substr(colon + 2)});
    if (out.headers.back().name == "content-length") length = std::stoul(out.headers.back().value);
  }
  if (input.size() < end + 4 + length) return std::nullopt;
  out.body = input.substr(end + 4, length);
  input.erase(0, end + 4 + length);
  return out;
}

// As a server answers the key (RFC 6455, 4.2.2).
std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<char, 64> out{};
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), digest.data(), static_cast<int>(size));
  return out.data();
}

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

Memory memory(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

Certificate read_certificate(const Identity& identity) {
  return {PEM_read_bio_X509(memory(identity.certificate).get(), nullptr, nullptr, nullptr), X509_free};
}

Key read_key(const Identity& identity) {
  return {PEM_read_bio_PrivateKey(memory(identity.key).get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
}

}  // namespace

Identity make_identity(const std::string& alternative_names, const std::string& common_name, const Identity* issuer,
                       std::chrono::seconds valid_for) {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), std::min<long>(0, valid_for.count()) - 60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_for.count());
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                             -1, 0);
  const Certificate signer = issuer == nullptr ? Certificate(nullptr, X509_free) : read_certificate(*issuer);
  X509_set_issuer_name(certificate.get(), signer ? X509_get_subject_name(signer.get()) : name);
  add_extension(certificate.get(), NID_subject_alt_name, alternative_names);
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate.get(), issuer == nullptr ? key.get() : read_key(*issuer).get(), EVP_sha256());
  return {
      .certificate = pem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); }),
      .key = pem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); }),
  };
}

struct ScriptedServer::Peer {
  struct Stream {
    Call call;
    std::string body;
    std::size_t sent = 0;  // Of the body. It is not cut each time: to move what is large takes longer than to send it.
    bool ended = false;
  };
  ScriptedServer* server = nullptr;
  int number = 0;
  base::Fd socket;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, SSL_free};
  std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session{nullptr, nghttp2_session_del};
  std::map<std::int32_t, Stream> streams;  // Until they are closed; whoever comes later finds none.
  std::string unsent;
  std::size_t sent = 0;  // Of that.
  bool gone = false;

  // HTTP/1.1 has no session; one stream at a time, numbered as they come.
  std::string input;
  std::int32_t calls = 0;
  bool busy = false;

  ~Peer() {
    for (const auto& [id, stream] : streams) *stream.call.gone = true;
  }

  Stream* find(std::int32_t id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }
  void close(std::int32_t id) {
    const auto found = streams.find(id);
    if (found == streams.end()) return;
    *found->second.call.gone = true;
    streams.erase(found);
  }
};

struct ScriptedServer::Callbacks {
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    Request& request = static_cast<Peer*>(user)->streams[frame->hd.stream_id].call.request;
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") {
      request.method = text;
    } else if (key == ":path") {
      request.target = text;
    } else {
      request.headers.push_back({key, text});
    }
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                  void* user) {
    Peer::Stream* const stream = static_cast<Peer*>(user)->find(id);
    if (stream != nullptr) stream->call.request.body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Peer& peer = *static_cast<Peer*>(user);
    if (frame->hd.type == NGHTTP2_RST_STREAM) ++peer.server->resets_seen_;
    const bool carries_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!carries_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    Peer::Stream* const stream = peer.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->call.connection = peer.number;
    stream->call.stream = frame->hd.stream_id;
    peer.server->script_(*peer.server, stream->call);
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    static_cast<Peer*>(user)->close(id);
    return 0;
  }

  static ssize_t body(nghttp2_session*, std::int32_t id, std::uint8_t* out, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    Peer::Stream* const stream = static_cast<Peer*>(source->ptr)->find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view rest = std::string_view(stream->body).substr(stream->sent);
    const std::size_t part = std::min(size, rest.size());
    if (part == 0 && !stream->ended) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(out, rest.data(), part);
    stream->sent += part;
    if (part < rest.size()) return static_cast<ssize_t>(part);
    empty(stream->body);  // A watch would keep all it ever said.
    stream->sent = 0;
    if (stream->ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }
};

ScriptedServer::ScriptedServer(Script script, const std::string& listen_on, Speaks speaks)
    : script_(std::move(script)),
      speaks_(speaks),
      identity_(make_identity("IP:127.0.0.1,IP:0:0:0:0:0:0:0:1,DNS:localhost,IP:" + listen_on)),
      host_(listen_on),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const SocketAddress any = Resolution(listen_on, 1).take()->front();
  listener_.reset(::socket(any.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  SocketAddress mine = any;
  reinterpret_cast<sockaddr_in*>(&mine.storage)->sin_port = 0;  // At the same place for IPv6.
  if (::bind(listener_.get(), mine.get(), mine.size) != 0 || ::listen(listener_.get(), 16) != 0) std::abort();
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&mine.storage), &mine.size);
  port_ = ntohs(reinterpret_cast<sockaddr_in*>(&mine.storage)->sin_port);

  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  context_ = {context, [](void* one) { SSL_CTX_free(static_cast<SSL_CTX*>(one)); }};
  present(identity_);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, &speaks_);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

ScriptedServer::~ScriptedServer() {
  close();
}

void ScriptedServer::speak_at_most(int tls_version) {
  auto* const context = static_cast<SSL_CTX*>(context_.get());
  SSL_CTX_set_security_level(context, 0);  // Without which there is no such version any more.
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context, tls_version);
}

void ScriptedServer::present(const Identity& identity) {
  auto* const context = static_cast<SSL_CTX*>(context_.get());
  SSL_CTX_use_certificate(context, read_certificate(identity).get());
  SSL_CTX_use_PrivateKey(context, read_key(identity).get());
}

void ScriptedServer::demand_certificates() {
  SSL_CTX_set_verify(static_cast<SSL_CTX*>(context_.get()), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

void ScriptedServer::close() {
  thread_.request_stop();
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

Url ScriptedServer::url() const {
  return {.scheme = "https", .host = host_, .port = port_, .path = ""};
}

TlsOptions ScriptedServer::trust() const {
  TlsOptions options;
  options.ca = identity_.certificate;
  return options;
}

void ScriptedServer::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  ::eventfd_write(wake_.get(), 1);
}

ScriptedServer::Peer* ScriptedServer::peer(int connection) const {
  const auto found = peers_.find(connection);
  return found == peers_.end() ? nullptr : found->second.get();
}

void ScriptedServer::answer(const Call& call, int status, const std::string& body, const Headers& headers) {
  begin(call, status, headers);
  more(call, body);
  end(call);
}

void ScriptedServer::begin(const Call& call, int status, const Headers& headers) {
  Peer* const to = peer(call.connection);
  if (to == nullptr || to->find(call.stream) == nullptr) return;
  if (!to->session) {
    to->unsent += fmt::format("HTTP/1.1 {} Scripted\r\nTransfer-Encoding: chunked\r\n", status);
    for (const Header& one : headers) to->unsent += fmt::format("{}: {}\r\n", one.name, one.value);
    to->unsent += "\r\n";
    return;
  }
  const Header head{":status", fmt::format("{}", status)};
  std::vector<nghttp2_nv> nvs = {{bytes(head.name), bytes(head.value), head.name.size(), head.value.size(), 0}};
  for (const Header& one : headers) {
    nvs.push_back({bytes(one.name), bytes(one.value), one.name.size(), one.value.size(), 0});
  }
  nghttp2_data_provider provider{.source = {.ptr = to}, .read_callback = Callbacks::body};
  nghttp2_submit_response(to->session.get(), call.stream, nvs.data(), nvs.size(), &provider);
}

void ScriptedServer::more(const Call& call, const std::string& bytes_to_send) {
  Peer* const to = peer(call.connection);
  Peer::Stream* const stream = to == nullptr ? nullptr : to->find(call.stream);
  if (stream == nullptr || stream->ended || bytes_to_send.empty()) return;
  if (!to->session) {
    to->unsent += fmt::format("{:x}\r\n{}\r\n", bytes_to_send.size(), bytes_to_send);
    return;
  }
  stream->body += bytes_to_send;
  nghttp2_session_resume_data(to->session.get(), call.stream);
}

void ScriptedServer::end(const Call& call) {
  Peer* const to = peer(call.connection);
  Peer::Stream* const stream = to == nullptr ? nullptr : to->find(call.stream);
  if (stream == nullptr) return;
  if (!to->session) {
    to->unsent += "0\r\n\r\n";
    to->close(call.stream);
    to->busy = false;
    return;
  }
  stream->ended = true;
  nghttp2_session_resume_data(to->session.get(), call.stream);
}

void ScriptedServer::reset(const Call& call, std::uint32_t code) {
  nghttp2_submit_rst_stream(peer(call.connection)->session.get(), 0, call.stream, code);
}

void ScriptedServer::go_away(int connection, std::int32_t last_stream) {
  nghttp2_submit_goaway(peer(connection)->session.get(), 0, last_stream, NGHTTP2_NO_ERROR, nullptr, 0);
}

void ScriptedServer::cut(int connection) {
  if (Peer* const to = peer(connection)) to->gone = true;
}

void ScriptedServer::cut_all() {
  for (const auto& [number, one] : peers_) one->gone = true;
}

void ScriptedServer::raw(int connection, const std::string& bytes_to_send) {
  peer(connection)->unsent += bytes_to_send;
}

std::size_t ScriptedServer::unsent(const Call& call) const {
  Peer& to = *peer(call.connection);
  if (!to.session) return to.unsent.size() - to.sent;
  const Peer::Stream* const stream = to.find(call.stream);
  return stream == nullptr ? 0 : stream->body.size() - stream->sent;
}

std::string ScriptedServer::server_name(const Call& call) const {
  const char* const name = SSL_get_servername(peer(call.connection)->ssl.get(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

void ScriptedServer::run(std::stop_token stop) {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    if (stop.stop_requested()) break;  // Behind the read, which may have taken the ring for it.
    do_posted();
    accept();
    std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (!frozen_) {
      for (const auto& [number, one] : peers_) serve(*one);
      std::erase_if(peers_, [](const auto& entry) { return entry.second->gone; });
      for (const auto& [number, one] : peers_) {
        fds.push_back({one->socket.get(), static_cast<short>(one->unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      }
    }
    ::poll(fds.data(), fds.size(), -1);
  }
}

// What it is done with is gone before the next wait, which may be long.
void ScriptedServer::do_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& one : work) one();
}

void ScriptedServer::accept() {
  base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return;
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto fresh = std::make_unique<Peer>();
  fresh->server = this;
  fresh->number = ++accepted_;
  fresh->socket = std::move(socket);
  fresh->ssl.reset(SSL_new(static_cast<SSL_CTX*>(context_.get())));
  SSL_set_fd(fresh->ssl.get(), fresh->socket.get());
  SSL_set_accept_state(fresh->ssl.get());
  if (speaks_ == Speaks::http1) {
    peers_.emplace(fresh->number, std::move(fresh));
    return;
  }

  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::closed);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, fresh.get());
  nghttp2_session_callbacks_del(callbacks);
  // As many as an API server allows. Without a limit nghttp2 remembers every stream that there ever was.
  const nghttp2_settings_entry most{.settings_id = NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, .value = 100};
  nghttp2_submit_settings(session, 0, &most, 1);
  fresh->session.reset(session);
  peers_.emplace(fresh->number, std::move(fresh));
}

void ScriptedServer::take_requests(Peer& one) {
  while (!one.busy) {
    auto request = next_request(one.input);
    if (!request) return;
    one.busy = true;
    Call call;
    call.connection = one.number;
    call.stream = ++one.calls;
    call.request = *std::move(request);
    one.streams[call.stream].call = call;  // Which may be closed while the script looks at it.
    script_(*this, call);
  }
}

void ScriptedServer::serve(Peer& one) {
  std::array<char, 16384> buffer;
  int size = 0;
  while (!one.gone && (size = SSL_read(one.ssl.get(), buffer.data(), buffer.size())) > 0) {
    if (!one.session) {
      one.input.append(buffer.data(), static_cast<std::size_t>(size));
      continue;
    }
    const auto taken = nghttp2_session_mem_recv(one.session.get(), reinterpret_cast<std::uint8_t*>(buffer.data()),
                                                static_cast<std::size_t>(size));
    if (taken < 0) one.gone = true;
  }
  const int reason = SSL_get_error(one.ssl.get(), size);
  if (size <= 0 && reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) one.gone = true;
  if (!one.session) take_requests(one);
  while (!one.gone && SSL_is_init_finished(one.ssl.get()) == 1) {
    if (one.unsent.empty() && !one.session) break;
    if (one.unsent.empty()) {
      const std::uint8_t* data = nullptr;
      const auto length = nghttp2_session_mem_send(one.session.get(), &data);
      if (length <= 0) break;
      one.unsent.assign(reinterpret_cast<const char*>(data), static_cast<std::size_t>(length));
    }
    const std::string_view rest = std::string_view(one.unsent).substr(one.sent);
    const int written = SSL_write(one.ssl.get(), rest.data(), static_cast<int>(rest.size()));
    if (written <= 0) break;
    one.sent += static_cast<std::size_t>(written);
    if (one.sent < one.unsent.size()) continue;
    empty(one.unsent);
    one.sent = 0;
  }
}

std::string welcome(const Request& request, const std::string& protocol) {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         accept_of(find(request.headers, "sec-websocket-key").value_or("")) +
         "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n\r\n";
}

Client connect_to(const ScriptedServer& server, const Tuning& tuning) {
  return {server.url(), *TlsContext::load(server.trust()), tuning};
}

Request get(std::string target) {
  Request request;
  request.target = std::move(target);
  return request;
}

void echo(ScriptedServer& server, const ScriptedServer::Call& call) {
  server.answer(call, 200, call.request.method + " " + call.request.target + " " + call.request.body);
}

}  // namespace http
