#include "http/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fcntl.h>
#include <list>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <sys/socket.h>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>

#include "base/clock.h"
#include "http/server_request.h"

namespace http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr auto kLingerTime = std::chrono::seconds(1);

// How the kernel treats what we have written when we close: it forgets it at once, or it goes on sending.
const asio::socket_base::linger kHardClose(true, 0);
const asio::socket_base::linger kGentleClose(false, 0);

// Sending or closed, for a client that takes nothing the kernel keeps no answer for longer than that.
void forget_after(int socket, std::chrono::milliseconds silence) {
  const auto time = static_cast<unsigned int>(silence.count());
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, sizeof time);  // Without it, minutes.
}

// Asio opens sockets that programs we start would inherit: a port of ours would stay taken for as long as they live.
void keep_from_children(int socket) {
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);  // Cannot fail: it is open.
}

}  // namespace

// Everything but the workers' calls of handlers happens on the thread in serve(), so nothing here is locked; all that
// they look at is whether to call.
struct Server::Core {
  class Connection;
  template <typename Stream>
  class Session;

  Core(Routes routes_, std::shared_ptr<ServerCertificate> certificate_, const ServerLimits& limits_)
      : routes(std::move(routes_)), certificate(std::move(certificate_)), limits(limits_), workers(limits_.workers) {}

  error_code open(const ListenAddress& where);
  error_code bind(const Tcp::endpoint& endpoint);
  void accept();
  void admit(Tcp::socket socket);
  bool make_room();
  void stop();

  const Routes routes;
  const std::shared_ptr<ServerCertificate> certificate;
  const ServerLimits limits;
  std::list<Connection*> connections;  // Who has kept us waiting longest comes first.
  bool stopping = false;
  std::atomic<bool> past_last_call = false;
  asio::io_context io{1};
  Tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  asio::steady_timer last_call{io};
  asio::thread_pool workers;
};

// What the core knows of a session, whatever its stream.
class Server::Core::Connection {
 public:
  // Only while a handler works on its request is the connection not waiting for its client.
  enum class Phase { receiving, working, sending, cut };

  explicit Connection(Core& core) : core_(core) { place_ = core.connections.insert(core.connections.end(), this); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() {
    core_.connections.erase(place_);
    if (core_.stopping && core_.connections.empty()) core_.last_call.cancel();
  }

  Phase phase() const { return phase_; }
  virtual void cut() = 0;

 protected:
  void enter(Phase phase) {
    phase_ = phase;
    core_.connections.splice(core_.connections.end(), core_.connections, place_);
  }

  Core& core_;

 private:
  std::list<Connection*>::iterator place_;
  Phase phase_ = Phase::receiving;
};

// One client from its first byte to its last. It lives as long as something is under way for it.
template <typename Stream>
class Server::Core::Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <typename... Args>
  explicit Session(Core& core, Args&&... args)
      : Connection(core),
        stream_(std::forward<Args>(args)...),
        // What a reader leaves unread is less than a head may have: there is always room for more.
        buffer_(core.limits.header_bytes + kFirstRead) {}

  void start() {
    if constexpr (std::is_same_v<Stream, Tls>) {
      expect_within(core_.limits.request_time);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = self()](error_code error) {
        if (!error) self->await_request();
      });
    } else {
      await_request();
    }
  }

  // Its pending operation fails, and with it the session ends.
  void cut() override {
    this->enter(Phase::cut);
    tcp().close();
  }

 private:
  std::shared_ptr<Session> self() { return this->shared_from_this(); }
  Plain& tcp() { return beast::get_lowest_layer(stream_); }
  // One deadline for all that an operation takes, however slowly its bytes come and go.
  void expect_within(std::chrono::milliseconds time) {
    deadline_ = base::now() + time;
    tcp().expires_at(deadline_);
  }
  void close_with(const asio::socket_base::linger& manner) {
    error_code ignored;  // The client may be gone already.
    tcp().socket().set_option(manner, ignored);
  }
  // To be asked before each read: the stream's own timer ends only one that has to wait for its bytes.
  bool is_late() const { return base::now() >= deadline_; }

  void await_request() {
    if (core_.stopping) return;
    this->enter(Phase::receiving);
    if (buffer_.size() > 0) return read_request();  // The next one came with the last.
    expect_within(core_.limits.idle_time);
    receive(kFirstRead, &Session::read_request);
  }

  void read_request() {
    request_.emplace(core_.limits);
    expect_within(core_.limits.request_time);
    read_what_came();
  }

  void read_what_came() {
    const auto unread = buffer_.cdata();
    error_code failure;
    buffer_.consume(request_->put({static_cast<const char*>(unread.data()), unread.size()}, failure));
    if (!failure) return answer(request_->release());
    if (failure != beast::http::error::need_more) return send(refusal(failure), {.keep_alive = false});
    receive(beast::read_size(buffer_, buffer_.max_size()), &Session::read_what_came);
  }

  void receive(std::size_t most, void (Session::*then)()) {
    stream_.async_read_some(buffer_.prepare(most), [self = self(), then](error_code error, std::size_t size) {
      self->buffer_.commit(size);
      if (!error && !self->is_late()) ((*self).*then)();
    });
  }

  struct Reply {
    bool keep_alive = false;
    bool headers_only = false;
    unsigned version = 11;
  };

  void answer(RequestReader::Message request) {
    this->enter(Phase::working);
    const Reply reply{.keep_alive = request.keep_alive(),
                      .headers_only = request.method() == beast::http::verb::head,
                      .version = request.version()};
    // The guard keeps the loop running for the answer. The worker gives its share of the session back to the loop,
    // which alone may end it.
    asio::post(core_.workers, [self = self(), guard = asio::make_work_guard(core_.io), reply,
                               request = to_request(std::move(request))]() mutable {
      Core& core = self->core_;
      // It waited for a worker until nobody waits for the answer any more.
      if (core.past_last_call) return asio::post(core.io, [self = std::move(self)] {});
      Response response = core.routes.answer(request);
      asio::post(core.io, [self = std::move(self), reply, response = std::move(response)]() mutable {
        self->send(std::move(response), reply);
      });
    });
  }

  void send(Response response, const Reply& reply) {
    this->enter(Phase::sending);
    const bool keep_alive = reply.keep_alive && !core_.stopping;
    response_ = {};
    response_.result(static_cast<unsigned>(response.status));
    response_.version(reply.version);
    for (const Header& header : response.headers) response_.insert(header.name, header.value);
    response_.keep_alive(keep_alive);
    response_.content_length(response.body.size());
    if (!reply.headers_only) response_.body() = std::move(response.body);
    expect_within(core_.limits.response_time);
    close_with(kHardClose);
    beast::http::async_write(stream_, response_, [self = self(), keep_alive](error_code error, std::size_t) {
      if (error) return;
      self->close_with(kGentleClose);  // Whole, but not with the client yet.
      keep_alive ? self->await_request() : self->say_goodbye();
    });
  }

  void say_goodbye() {
    this->enter(Phase::receiving);
    expect_within(kLingerTime);
    if constexpr (std::is_same_v<Stream, Tls>) {
      stream_.async_shutdown([self = self()](error_code) { self->linger(); });
    } else {
      linger();
    }
  }

  // Closing with unread bytes would make the kernel reset the connection, and the client lose our last words.
  void linger() {
    error_code ignored;  // The client may be gone already.
    tcp().socket().shutdown(Tcp::socket::shutdown_send, ignored);
    if (!core_.stopping) discard();
  }

  void discard() {
    tcp().async_read_some(asio::buffer(discarded_), [self = self()](error_code error, std::size_t) {
      if (!error && !self->is_late()) self->discard();
    });
  }

  static constexpr std::size_t kFirstRead = 2048;

  Stream stream_;
  base::TimePoint deadline_;
  beast::flat_buffer buffer_;
  std::optional<RequestReader> request_;
  beast::http::response<beast::http::string_body> response_;
  std::array<char, 4096> discarded_;
};

error_code Server::Core::open(const ListenAddress& where) {
  if (where.address) return bind({asio::ip::make_address(where.address->text()), where.port});
  const error_code both = bind({Tcp::v6(), where.port});  // IPv4 too, see bind().
  if (both != asio::error::address_family_not_supported) return both;
  return bind({Tcp::v4(), where.port});
}

error_code Server::Core::bind(const Tcp::endpoint& endpoint) {
  error_code error;
  const auto step = [&](auto&& call) {
    if (!error) call();
  };
  step([&] { acceptor.open(endpoint.protocol(), error); });
  step([&] { keep_from_children(acceptor.native_handle()); });
  step([&] { acceptor.set_option(Tcp::acceptor::reuse_address(true), error); });
  if (endpoint.protocol() == Tcp::v6()) step([&] { acceptor.set_option(asio::ip::v6_only(false), error); });
  step([&] { acceptor.bind(endpoint, error); });
  step([&] { acceptor.listen(asio::socket_base::max_listen_connections, error); });
  return error;
}

void Server::Core::accept() {
  acceptor.async_accept([this](error_code error, Tcp::socket socket) {
    if (stopping) return;
    if (!error) {
      admit(std::move(socket));
      return accept();
    }
    // Out of descriptors, most likely: trying at once would only burn the processor.
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](error_code) {
      if (!stopping) accept();
    });
  });
}

void Server::Core::admit(Tcp::socket socket) {
  if (connections.size() >= limits.connections && !make_room()) return;
  keep_from_children(socket.native_handle());
  error_code ignored;  // Without these answers are late (40 ms with TLS) and slow clients costly, nothing is wrong.
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(kHardClose, ignored);
  forget_after(socket.native_handle(), limits.response_time);
  if (!certificate) return std::make_shared<Session<Plain>>(*this, std::move(socket))->start();

  SSL_CTX* const shared = certificate->current().get();
  SSL_CTX_up_ref(shared);
  asio::ssl::context context(shared);  // Takes that reference over; the stream holds one of its own.
  std::make_shared<Session<Tls>>(*this, std::move(socket), context)->start();
}

bool Server::Core::make_room() {
  const auto waits = [](const Connection* one) {
    return one->phase() == Connection::Phase::receiving || one->phase() == Connection::Phase::sending;
  };
  const auto longest = std::ranges::find_if(connections, waits);
  if (longest == connections.end()) return false;
  (*longest)->cut();
  return true;
}

void Server::Core::stop() {
  stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  pause.cancel();
  const std::list<Connection*> present = connections;  // Cutting changes their order.
  for (Connection* const one : present) {
    if (one->phase() == Connection::Phase::receiving) one->cut();
  }
  if (connections.empty()) return;
  last_call.expires_after(limits.stop_time);
  last_call.async_wait([this](error_code error) {
    if (error) return;
    past_last_call = true;
    const std::list<Connection*> late = connections;
    std::ranges::for_each(late, &Connection::cut);
  });
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

base::Result<Server> Server::listen(const ListenAddress& where, Routes routes,
                                    std::shared_ptr<ServerCertificate> certificate, const ServerLimits& limits) {
  auto core = std::make_unique<Core>(std::move(routes), std::move(certificate), limits);
  if (const error_code error = core->open(where)) {
    const auto call = fmt::format("listen on {}:{}", where.address ? where.address->text() : "", where.port);
    return base::fail_errno(call, error.value());
  }
  return Server(std::move(core));
}

std::uint16_t Server::port() const {
  error_code ignored;  // An open acceptor has an address.
  return core_->acceptor.local_endpoint(ignored).port();
}

void Server::serve(std::stop_token stop) {
  core_->accept();
  const std::stop_callback on_stop(stop, [this] { asio::post(core_->io, [this] { core_->stop(); }); });
  core_->io.run();
  core_->workers.join();
}

}  // namespace http
