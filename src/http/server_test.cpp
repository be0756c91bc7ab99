#include "http/server.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "http/resolve.h"

namespace http {
namespace {

using namespace std::chrono_literals;

// A raw client: what no well-behaved one would send, and when.
class Peer {
 public:
  // With `room` for so many bytes in its socket; 0: as many as the kernel likes.
  explicit Peer(std::uint16_t port, const std::string& host = "127.0.0.1", int room = 0) {
    const SocketAddress address = Resolution(host, port).take()->front();
    socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (room > 0) ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    EXPECT_EQ(::connect(socket_.get(), address.get(), address.size), 0) << address.text();
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  int fd() const { return socket_.get(); }
  void say(std::string_view text) { (void)!::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }

  // One answer with its body.
  std::string answer() {
    while (text_.find("\r\n\r\n") == std::string::npos && more()) {
    }
    const std::size_t head = text_.find("\r\n\r\n") + 4;
    const auto length = text_.find("Content-Length: ");
    const std::size_t size = length == std::string::npos ? 0 : std::stoul(text_.substr(length + 16));
    while (text_.size() < head + size && more()) {
    }
    std::string out = text_.substr(0, head + size);
    text_.erase(0, head + size);
    return out;
  }

  std::string until_closed() {
    while (more()) {
    }
    return std::exchange(text_, {});
  }
  bool closed() { return until_closed().empty() && !timed_out_; }

 private:
  bool more() {
    std::array<char, 4096> buffer;
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    timed_out_ = size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (size > 0) text_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  base::Fd socket_;
  std::string text_;
  bool timed_out_ = false;
};

Routes hello() {
  Routes routes;
  routes.add("/hello", [](const Request& request) {
    return plain_text(200, fmt::format("{} {}", request.method, find(request.headers, "x-who").value_or("nobody")));
  });
  routes.add("/echo", [](const Request& request) { return plain_text(200, request.body); }, {"POST"});
  return routes;
}

class Running {
 public:
  explicit Running(Routes routes, const ServerLimits& limits = {}, std::shared_ptr<ServerCertificate> certificate = {})
      : server_(Server::listen({net::Address::parse("127.0.0.1").value(), 0}, std::move(routes), std::move(certificate),
                               limits)
                    .value()),
        thread_([this](std::stop_token stop) { server_.serve(std::move(stop)); }) {}

  std::uint16_t port() const { return server_.port(); }
  void stop() { thread_.request_stop(); }
  void join() { thread_.join(); }

 private:
  Server server_;
  std::jthread thread_;
};

constexpr std::string_view kGet = "GET /hello HTTP/1.1\r\nHost: x\r\nX-Who: me\r\n\r\n";

bool starts_with(const std::string& text, std::string_view start) {
  return text.starts_with(start);
}

TEST(Server, requests_are_answered_on_one_connection) {
  Running server(hello());
  Peer peer(server.port());
  for (int i = 0; i < 3; ++i) {
    peer.say(kGet);
    const std::string answer = peer.answer();
    EXPECT_TRUE(starts_with(answer, "HTTP/1.1 200 OK\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\nGET me")) << answer;
  }
}

// A port would stay taken for as long as a program lives that got the listener with its birth.
TEST(Server, programs_that_we_start_get_none_of_its_sockets) {
  const auto inheritable = [] {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(entry.path().filename());
      const int flags = ::fcntl(fd, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) == 0) out.insert(entry.path().filename());
    }
    return out;
  };
  const auto before = inheritable();
  Running server(hello());
  Peer peer(server.port());
  peer.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(peer.answer().empty());
  EXPECT_EQ(inheritable(), before);
}

TEST(Server, requests_sent_ahead_are_answered_in_turn) {
  Running server(hello());
  Peer peer(server.port());
  peer.say(fmt::format("{0}{0}{0}", kGet));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(peer.answer().ends_with("GET me"));
}

// Where one ends that could not be read, nobody knows.
TEST(Server, what_was_sent_behind_a_refused_request_is_none) {
  Running server(hello());
  for (const char* bad : {"GET /hello HTTP/1.1\nHost: x\n\n", "GET /hello HTTP/1.1\r\nHost : x\r\n\r\n",
                          "POST /echo HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    Peer peer(server.port());
    peer.say(fmt::format("{}{}{}", kGet, bad, kGet));
    EXPECT_TRUE(peer.answer().ends_with("GET me")) << bad;
    EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 400 ")) << bad;
    EXPECT_EQ(peer.until_closed(), "") << bad;
  }
}

TEST(Server, head_has_the_length_and_no_body) {
  Running server(hello());
  Peer peer(server.port());
  peer.say("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = peer.until_closed();
  EXPECT_NE(answer.find("Content-Length: 10\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(Server, bodies_are_read_where_a_route_wants_them) {
  Running server(hello());
  Peer peer(server.port());
  peer.say("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nping");
  EXPECT_TRUE(peer.answer().ends_with("\r\n\r\nping"));
  peer.say("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\npo\r\n2\r\nng\r\n0\r\n\r\n");
  EXPECT_TRUE(peer.answer().ends_with("\r\n\r\npong"));
  peer.say("POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 405 "));
}

TEST(Server, http_1_0_clients_are_closed_after_the_answer) {
  Running server(hello());
  Peer peer(server.port());
  peer.say("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(starts_with(peer.until_closed(), "HTTP/1.0 200 OK"));
}

TEST(Server, too_much_is_refused_and_the_client_hears_why) {
  Running server(hello(), {.header_bytes = 1000, .body_bytes = 1000});
  Peer wordy(server.port());
  wordy.say("GET /hello HTTP/1.1\r\nX-Long: " + std::string(300'000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(starts_with(wordy.until_closed(), "HTTP/1.1 431 "));
  Peer heavy(server.port());
  heavy.say("POST /echo HTTP/1.1\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'));
  EXPECT_TRUE(starts_with(heavy.until_closed(), "HTTP/1.1 413 "));
  Peer chunked(server.port());
  chunked.say("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n" + std::string(2001, 'x') + "\r\n");
  EXPECT_TRUE(starts_with(chunked.until_closed(), "HTTP/1.1 413 "));
  for (const char* endless : {"5;", "0\r\nX: "}) {  // What a chunk or the end of all of them may bring along.
    Peer peer(server.port());
    peer.say("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + (endless + std::string(300'000, 'x')));
    EXPECT_TRUE(starts_with(peer.until_closed(), "HTTP/1.1 431 ")) << endless;
  }
}

// Each read ends within a line: Beast takes the lines before it, and finds what is left within the limit.
TEST(Server, a_head_that_comes_in_many_short_lines_has_the_same_limit) {
  Running server(hello());
  std::string lines;
  for (int i = 0; i < 250; ++i) lines += ":\r\na";
  Peer peer(server.port());
  Peer other(server.port());
  peer.say("GET /hello HTTP/1.1\r\na");
  for (int i = 0; i < 40; ++i) {
    peer.say(lines);
    other.say(kGet);  // Whoever has answered this has read those.
    EXPECT_TRUE(other.answer().ends_with("GET me"));
  }
  peer.say(":\r\n\r\n");
  EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 431 "));
}

TEST(Server, garbage_is_refused_and_hurts_nobody) {
  Running server(hello());
  const std::string zeros(100, '\0');
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x01\x01\xfc\x03\x03 hello\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), zeros + "\r\n\r\n",
        std::string("GET /hello HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("GET  /hello HTTP/1.1\r\n: x\r\n\r\n"), std::string("GET /hello HTTP/9.9\r\n\r\n")}) {
    Peer peer(server.port());
    peer.say(garbage);
    const std::string answer = peer.until_closed();
    EXPECT_TRUE(starts_with(answer, "HTTP/1.1 400 ")) << answer;
  }
  Peer vanishing(server.port());
  vanishing.say("GET /hello HT");
  ::shutdown(vanishing.fd(), SHUT_WR);
  EXPECT_TRUE(vanishing.closed());

  Peer peer(server.port());
  peer.say(kGet);
  EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 200 "));
}

TEST(Server, a_request_that_trickles_in_meets_its_deadline) {
  Running server(hello(), {.request_time = 100ms});
  Peer slow(server.port());
  std::jthread trickle([&](std::stop_token stop) {
    slow.say("GET /hello HTTP/1.1\r\n");
    while (!stop.stop_requested()) {
      slow.say("x");
      std::this_thread::sleep_for(5ms);  // What a slow client is.
    }
  });
  std::array<char, 1> byte;
  EXPECT_LE(::recv(slow.fd(), byte.data(), byte.size(), 0), 0);  // Closed or reset, but not left waiting.
}

// As fast as the socket takes it, so that no read of the server has to wait.
bool is_cut_while_it_says(Peer& peer, std::string_view text) {
  std::string much;
  while (much.size() < 1'000'000) much += text;
  const auto patience = base::now() + 20s;
  while (::send(peer.fd(), much.data(), much.size(), MSG_NOSIGNAL) > 0) {
    if (base::now() > patience) return false;
  }
  return true;
}

TEST(Server, a_request_that_pours_in_meets_its_deadline) {
  Running server(hello(), {.body_bytes = 1U << 30U, .request_time = 100ms});
  Peer peer(server.port());
  peer.say("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(is_cut_while_it_says(peer, fmt::format("1;{}\r\nx\r\n", std::string(10'000, 'x'))));
}

TEST(Server, refused_clients_are_not_listened_to_for_long) {
  Running server(hello());
  std::vector<std::future<bool>> cut;
  for (int i = 0; i < 4; ++i) {  // So many that the server never comes to the end of what one says.
    cut.push_back(std::async(std::launch::async, [&] {
      Peer peer(server.port());
      peer.say("nonsense\r\n\r\n");
      return starts_with(peer.answer(), "HTTP/1.1 400 ") && is_cut_while_it_says(peer, "and more of it");
    }));
  }
  for (auto& one : cut) EXPECT_TRUE(one.get());
}

TEST(Server, an_idle_connection_is_closed) {
  Running server(hello(), {.idle_time = 500ms});
  Peer peer(server.port());
  peer.say(kGet);
  EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 200 "));
  EXPECT_TRUE(peer.closed());
}

TEST(Server, a_client_that_does_not_take_its_answer_is_cut) {
  std::atomic<int> calls = 0;
  Routes routes;
  routes.add("/big", [&](const Request&) {
    ++calls;
    return plain_text(200, std::string(50'000'000, 'x'));
  });
  Running server(std::move(routes), {.response_time = 100ms});
  Peer peer(server.port());
  peer.say("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  pollfd hung_up{.fd = peer.fd(), .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(::poll(&hung_up, 1, 20'000), 1);
  EXPECT_LT(peer.until_closed().size(), 50'000'000U);
  EXPECT_EQ(calls, 1);
}

TEST(Server, silent_clients_cannot_lock_out_a_newcomer) {
  Running server(hello(), {.connections = 4});
  std::vector<Peer> silent;
  for (int i = 0; i < 4; ++i) silent.emplace_back(server.port());
  for (int i = 0; i < 10; ++i) {
    Peer peer(server.port());
    peer.say(kGet);
    ASSERT_TRUE(starts_with(peer.answer(), "HTTP/1.1 200 "));
  }
  EXPECT_TRUE(silent.front().closed());
}

TEST(Server, a_handler_that_blocks_does_not_stop_the_others) {
  std::latch release(1);
  Routes routes = hello();
  routes.add("/block", [&](const Request&) {
    release.wait();
    return plain_text(200, "late");
  });
  Running server(std::move(routes), {.connections = 2});
  Peer blocked(server.port());
  blocked.say("GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 5; ++i) {  // More than the limit: the one being worked for is not the one to go.
    Peer peer(server.port());
    peer.say(kGet);
    EXPECT_TRUE(peer.answer().ends_with("GET me"));
  }
  release.count_down();
  EXPECT_TRUE(blocked.answer().ends_with("late"));
}

TEST(Server, a_stop_finishes_what_is_being_answered) {
  std::latch started(1);
  std::latch release(1);
  Routes routes;
  routes.add("/slow", [&](const Request&) {
    started.count_down();
    release.wait();
    return plain_text(200, "done");
  });
  Running server(std::move(routes));
  Peer idle(server.port());
  Peer busy(server.port());
  busy.say("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  started.wait();
  server.stop();
  EXPECT_TRUE(idle.closed());
  release.count_down();
  EXPECT_TRUE(busy.until_closed().ends_with("done"));
  server.join();
}

// An answer that the kernel has taken from the server, and most of which it has not passed on: the client has no room.
class LargeAnswer {
 public:
  explicit LargeAnswer(const ServerLimits& limits = {})
      : server_(routes(), limits), slow_(server_.port(), "127.0.0.1", 4096) {
    slow_.say("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    // The only worker comes to this one behind that one, and the server's loop to its second request, too.
    Peer other(server_.port());
    for (int i = 0; i < 2; ++i) {
      asked_.wait();
      other.say(kGet);
      EXPECT_TRUE(other.answer().ends_with("GET me"));
    }
  }

  Running& server() { return server_; }
  Peer& slow() { return slow_; }
  static constexpr std::size_t kSize = 500'000;

 private:
  Routes routes() {
    Routes out = hello();
    out.add("/large", [this](const Request&) {
      asked_.count_down();
      return plain_text(200, std::string(kSize, 'x'));
    });
    return out;
  }

  std::latch asked_{1};
  Running server_;
  Peer slow_;
};

TEST(Server, a_stop_leaves_the_client_what_was_answered_before) {
  LargeAnswer large({.workers = 1});
  large.server().stop();
  large.server().join();
  EXPECT_GT(large.slow().until_closed().size(), LargeAnswer::kSize);
}

TEST(Server, whoever_makes_room_for_a_newcomer_keeps_what_was_answered_before) {
  LargeAnswer large({.connections = 2, .workers = 1});
  std::vector<Peer> newcomers;
  for (int i = 0; i < 2; ++i) {
    newcomers.emplace_back(large.server().port());
    newcomers.back().say(kGet);
    EXPECT_TRUE(newcomers.back().answer().ends_with("GET me"));
  }
  EXPECT_GT(large.slow().until_closed().size(), LargeAnswer::kSize);
}

TEST(Server, a_client_that_says_no_more_hears_its_answer_to_the_end) {
  LargeAnswer large({.workers = 1});
  ::shutdown(large.slow().fd(), SHUT_WR);
  EXPECT_GT(large.slow().until_closed().size(), LargeAnswer::kSize);
}

// The server's end of a connection, open or closed, while the kernel remembers it.
class ServersEnd {
 public:
  ServersEnd(const Running& server, const Peer& peer) {
    sockaddr_in client{};
    socklen_t size = sizeof client;
    EXPECT_EQ(::getsockname(peer.fd(), reinterpret_cast<sockaddr*>(&client), &size), 0);
    line_ = fmt::format(" 0100007F:{:04X} 0100007F:{:04X} ", server.port(), ntohs(client.sin_port));
    EXPECT_TRUE(is_there());
  }

  bool is_there() const { return base::read_file("/proc/net/tcp").value().contains(line_); }

 private:
  std::string line_;
};

TEST(Server, an_answer_that_nobody_takes_is_forgotten_though_its_server_is_gone) {
  LargeAnswer large({.response_time = 300ms, .workers = 1});
  const ServersEnd end(large.server(), large.slow());
  large.server().stop();
  large.server().join();
  const auto patience = base::now() + 20s;
  while (end.is_there() && base::now() < patience) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(end.is_there());
}

TEST(Server, an_answer_that_is_cut_is_forgotten_at_once) {
  Routes routes = hello();
  routes.add("/big", [](const Request&) { return plain_text(200, std::string(50'000'000, 'x')); });
  Running server(std::move(routes), {.stop_time = 50ms});
  Peer peer(server.port());
  const ServersEnd end(server, peer);
  peer.say(kGet);
  EXPECT_TRUE(peer.answer().ends_with("GET me"));
  peer.say("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  std::array<char, 1> first;
  EXPECT_EQ(::recv(peer.fd(), first.data(), first.size(), 0), 1);
  server.stop();
  server.join();
  EXPECT_FALSE(end.is_there());
}

TEST(Server, a_stop_does_not_wait_for_a_client_that_takes_nothing) {
  std::latch started(1);
  Routes routes;
  routes.add("/big", [&](const Request&) {
    started.count_down();
    return plain_text(200, std::string(50'000'000, 'x'));
  });
  Running server(std::move(routes), {.stop_time = 50ms});
  Peer peer(server.port());
  peer.say("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  started.wait();
  server.stop();
  server.join();
}

TEST(Server, a_stop_does_not_wait_for_requests_that_no_worker_has_begun) {
  std::atomic<int> calls = 0;
  std::latch started(1);
  std::latch release(1);
  Routes routes;
  routes.add("/block", [&](const Request&) {
    if (++calls == 1) started.count_down();
    release.wait();
    return plain_text(200, "late");
  });
  Running server(std::move(routes), {.stop_time = 50ms, .workers = 1});
  std::vector<Peer> peers;
  for (int i = 0; i < 5; ++i) {
    peers.emplace_back(server.port());
    peers.back().say("GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  Peer last(server.port());
  last.say("nonsense\r\n\r\n");  // Refused without a worker, and after the requests before it have been read.
  EXPECT_TRUE(starts_with(last.answer(), "HTTP/1.1 400 "));
  started.wait();
  server.stop();
  for (Peer& peer : peers) EXPECT_TRUE(peer.closed());
  release.count_down();
  server.join();
  EXPECT_EQ(calls, 1);
}

TEST(Server, a_port_in_use_is_an_error_that_names_it) {
  Running server(hello());
  const auto second = Server::listen({net::Address::parse("127.0.0.1").value(), server.port()}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().errno_value(), EADDRINUSE);
  EXPECT_NE(second.error().message().find(fmt::format("127.0.0.1:{}", server.port())), std::string::npos);
}

TEST(Server, without_an_address_it_listens_on_both_families) {
  Server server = Server::listen({std::nullopt, 0}, hello()).value();
  const std::jthread thread([&](std::stop_token stop) { server.serve(std::move(stop)); });
  for (const char* const host : {"127.0.0.1", "::1"}) {
    Peer peer(server.port(), host);
    peer.say(kGet);
    EXPECT_TRUE(starts_with(peer.answer(), "HTTP/1.1 200 ")) << host;
  }
}

// A TLS client on a Peer's socket that reports the common name it was shown.
class TlsPeer {
 public:
  explicit TlsPeer(std::uint16_t port, int max_version = 0) : peer_(port) {
    SSL_CTX_set_max_proto_version(context_.get(), max_version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), peer_.fd());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  std::string shown() {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl_.get()), X509_free);
    std::array<char, 256> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(), name.size());
    return name.data();
  }
  std::string ask(std::string_view request) {
    SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size()));
    std::string out;
    std::array<char, 4096> buffer;
    int size = 0;
    while (!out.ends_with("GET me") && (size = SSL_read(ssl_.get(), buffer.data(), buffer.size())) > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return out;
  }

 private:
  Peer peer_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
  bool connected_ = false;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "server_test.XXXXXX").native();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void put(const ServerCertificate::Files& files, const std::string& name) {
  const KeyPair pair = make_self_signed({name}, 1h).value();
  ASSERT_TRUE(base::write_file(files.certificate, pair.certificate));
  ASSERT_TRUE(base::write_file(files.key, pair.key));
}

TEST(TlsServer, answers_with_a_certificate_of_its_own) {
  Running server(hello(), {}, ServerCertificate::self_signed({"localhost", "127.0.0.1", "::1"}).value());
  TlsPeer peer(server.port());
  ASSERT_TRUE(peer.connected());
  EXPECT_EQ(peer.shown(), "localhost");
  EXPECT_TRUE(starts_with(peer.ask(kGet), "HTTP/1.1 200 OK"));
}

TEST(TlsServer, old_protocols_and_plain_text_are_refused) {
  Running server(hello(), {}, ServerCertificate::self_signed({"localhost"}).value());
  EXPECT_FALSE(TlsPeer(server.port(), TLS1_1_VERSION).connected());
  Peer plain(server.port());
  plain.say(kGet);
  EXPECT_EQ(plain.until_closed().find("HTTP"), std::string::npos);
  EXPECT_TRUE(TlsPeer(server.port()).connected());
}

TEST(TlsServer, a_silent_handshake_meets_its_deadline) {
  Running server(hello(), {.request_time = 50ms}, ServerCertificate::self_signed({"localhost"}).value());
  Peer peer(server.port());
  EXPECT_TRUE(peer.closed());
}

TEST(TlsServer, changed_files_are_used_and_broken_ones_are_not) {
  const Folder folder;
  const ServerCertificate::Files files{.certificate = folder / "tls.crt", .key = folder / "tls.key"};
  put(files, "first");
  const auto certificate = ServerCertificate::from_files(files).value();
  Running server(hello(), {}, certificate);
  EXPECT_EQ(TlsPeer(server.port()).shown(), "first");

  put(files, "second");
  EXPECT_EQ(TlsPeer(server.port()).shown(), "second");
  EXPECT_FALSE(certificate->problem());

  ASSERT_TRUE(base::write_file(files.certificate, make_self_signed({"third"}, 1h)->certificate));
  EXPECT_EQ(TlsPeer(server.port()).shown(), "second");
  EXPECT_NE(certificate->problem().value_or("").find("does not belong"), std::string::npos);

  std::filesystem::remove(files.key);
  EXPECT_EQ(TlsPeer(server.port()).shown(), "second");
  put(files, "fourth");
  EXPECT_EQ(TlsPeer(server.port()).shown(), "fourth");
  EXPECT_FALSE(certificate->problem());
}

TEST(ServerCertificate, a_symbolic_link_moved_elsewhere_is_a_change) {
  const Folder folder;
  for (const char* version : {"one", "two"}) {
    std::filesystem::create_directory(folder / version);
    put({.certificate = folder / version / "tls.crt", .key = folder / version / "tls.key"}, version);
  }
  const auto data = folder / "data";
  std::filesystem::create_symlink("one", data);
  const auto certificate = ServerCertificate::from_files({data / "tls.crt", data / "tls.key"}).value();
  const auto first = certificate->current();
  EXPECT_EQ(certificate->current(), first);
  std::filesystem::remove(data);
  std::filesystem::create_symlink("two", data);
  EXPECT_NE(certificate->current(), first);
}

TEST(ServerCertificate, an_own_one_is_replaced_in_the_last_third_of_its_life) {
  const auto lasting = ServerCertificate::self_signed({"a"}, 24h).value();
  EXPECT_EQ(lasting->current(), lasting->current());
  EXPECT_GT(lasting->not_after(), std::chrono::system_clock::now() + 23h);
  const auto fading = ServerCertificate::self_signed({"a"}, 0s).value();
  const auto first = fading->current();
  EXPECT_NE(fading->current(), first);
}

TEST(ServerCertificate, what_is_wrong_at_start_is_an_error) {
  const Folder folder;
  const auto missing = ServerCertificate::from_files({folder / "tls.crt", folder / "tls.key"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("tls.crt"), std::string::npos);
}

}  // namespace
}  // namespace http
