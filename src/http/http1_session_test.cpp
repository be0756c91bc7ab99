#include "http/http1_session.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using base::Fault;
using namespace std::chrono_literals;

// What an older server, or a proxy that people put before one, speaks.
class OldServer : public testing::Test {
 protected:
  static std::unique_ptr<ScriptedServer> serve(ScriptedServer::Script script) {
    return std::make_unique<ScriptedServer>(std::move(script), "127.0.0.1", ScriptedServer::Speaks::http1);
  }
};

TEST_F(OldServer, one_connection_serves_requests_one_after_the_other) {
  const auto server = serve(echo);
  Client client = connect_to(*server);
  const std::string body(3'000'000, 'x');
  for (int i = 0; i < 3; ++i) {
    const auto response = client.send({.method = "PUT", .target = "/a?b=c", .headers = {}, .body = body}, soon());
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "PUT /a?b=c " + body);
  }
  EXPECT_EQ(server->accepted(), 1);
}

// As nginx does: it refuses a request with two of them, even of the same value.
TEST_F(OldServer, a_request_says_its_length_once_also_where_its_caller_does) {
  const auto server = serve([](ScriptedServer& self, const ScriptedServer::Call& call) {
    const auto said = std::ranges::count(call.request.headers, "content-length", &Header::name);
    self.answer(call, said == 1 ? 200 : 400, call.request.body);
  });
  Client client = connect_to(*server);
  const auto response =
      client.send({.method = "POST", .target = "/", .headers = {{"content-length", "4"}}, .body = "body"}, soon());
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "body");
}

TEST_F(OldServer, many_threads_and_a_stream_have_connections_of_their_own) {
  const auto server = serve([](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (call.request.target != "/watch") return echo(self, call);
    self.begin(call, 200, {});
    self.more(call, "first");
  });
  Client client = connect_to(*server);
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream) << stream.error().message();
  EXPECT_EQ(stream->read(soon(), {}).value_or(""), "first");
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          const auto response = client.send(get("/" + std::to_string(i)), soon());
          if (response && response->body == "GET /" + std::to_string(i) + " ") ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 100);
  EXPECT_LE(server->accepted(), 5);
}

TEST_F(OldServer, requests_that_waited_for_the_first_connection_are_spread) {
  std::atomic<int> waiting = 0;
  const auto server = serve([&](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (++waiting < 4) return;  // None is answered before all have come.
    echo(self, call);
  });
  Client client = connect_to(*server);
  std::vector<std::future<bool>> answers;
  for (int i = 0; i < 4; ++i) {
    answers.push_back(std::async(std::launch::async, [&] { return client.send(get("/"), soon(5s)).has_value(); }));
  }
  int answered = 0;
  for (auto& answer : answers) answered += answer.get() ? 1 : 0;
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(waiting, 4);
}

TEST_F(OldServer, a_request_that_is_given_up_leaves_no_connection_behind) {
  const auto server = serve([](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (call.request.target == "/answer") echo(self, call);
  });
  Client client = connect_to(*server);
  EXPECT_EQ(client.send(get("/silence"), soon(300ms)).error().fault(), Fault::timeout);
  EXPECT_TRUE(client.send(get("/answer"), soon()));
  EXPECT_EQ(server->accepted(), 2);
}

TEST_F(OldServer, a_slow_reader_leaves_the_rest_with_the_server) {
  constexpr std::size_t kLarge = 32U << 20U;
  ScriptedServer::Call watch;
  const auto server = serve([&](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (call.request.target != "/watch") return self.answer(call, 200, std::string(1U << 20U, 'y'));
    watch = call;
    self.begin(call, 200);
    self.more(call, std::string(kLarge, 'x'));
    self.end(call);
  });
  Client client = connect_to(*server, {.stream_window = 70'000});
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(client.send(get("/bulk"), soon()));
  std::promise<std::size_t> unsent;
  server->post([&] { unsent.set_value(server->unsent(watch)); });
  EXPECT_GE(unsent.get_future().get(), kLarge / 2);  // Some is in the sockets.
  std::size_t read = 0;
  while (true) {
    const auto bytes = stream->read(soon(), {});
    ASSERT_TRUE(bytes) << bytes.error().message();
    if (bytes->empty()) break;
    read += bytes->size();
  }
  EXPECT_EQ(read, kLarge);
}

TEST_F(OldServer, garbage_and_too_much_end_the_request_not_the_client) {
  const auto server = serve([](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (call.request.target == "/garbage") return self.raw(call.connection, "SMTP ready\r\n\r\n");
    if (call.request.target == "/headers") {
      return self.begin(call, 200, {{"x-long", std::string(100'000, 'x')}});
    }
    if (call.request.target == "/cut") return self.cut(call.connection);
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (call.request.target == "/extension")
      return self.raw(call.connection, chunked + "5;" + std::string(100'000, 'x'));
    if (call.request.target == "/trailer")
      return self.raw(call.connection, chunked + "0\r\nX: " + std::string(100'000, 'x'));
    echo(self, call);
  });
  Client client = connect_to(*server, {.max_body_bytes = 1000});
  EXPECT_EQ(client.send(get("/garbage"), soon()).error().fault(), Fault::unavailable);
  EXPECT_EQ(client.send(get("/headers"), soon()).error().fault(), Fault::invalid);
  EXPECT_EQ(client.send(get("/" + std::string(2000, 'x')), soon()).error().fault(), Fault::invalid);
  EXPECT_EQ(client.send(get("/cut"), soon()).error().fault(), Fault::unavailable);
  EXPECT_EQ(client.send(get("/extension"), soon()).error().fault(), Fault::invalid);
  EXPECT_EQ(client.send(get("/trailer"), soon()).error().fault(), Fault::invalid);
  EXPECT_EQ(client.send({.method = "GET", .target = "/", .headers = {{"x", "a\r\ny: b"}}, .body = ""}, soon())
                .error()
                .fault(),
            Fault::invalid);
  EXPECT_TRUE(client.send(get("/good"), soon()));
}

std::string answer_with_head_of(std::size_t size) {
  std::string out = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx:";
  while (out.size() + 10 <= size) out += "\r\na:";
  return out + std::string(size - out.size() - 4, 'x') + "\r\n\r\nbody";
}

// The parser takes each line as it comes, and compares with its limit what is left of a piece.
TEST(Http1SessionTest, a_head_has_one_limit_in_pieces_of_any_size) {
  constexpr Tuning kTuning{.max_header_bytes = 1000};
  for (std::size_t piece = 1; piece <= kTuning.max_header_bytes + 1; piece += 1 + piece / 10) {
    for (const bool fits : {true, false}) {
      const auto exchange = std::make_shared<Exchange>(get("/"), Exchange::Mode::whole, 1000);
      Http1Session session("server:443", kTuning);
      session.start(exchange);
      ASSERT_TRUE(session.outgoing());
      const std::string bytes = answer_with_head_of(kTuning.max_header_bytes + (fits ? 0 : 1));
      base::Status received;
      for (std::string_view rest = bytes; received && !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
        received = session.receive(rest.substr(0, piece));
      }
      const auto response = exchange->wait_end(soon(), {});
      ASSERT_EQ(response.has_value(), fits) << piece;
      ASSERT_EQ(received.has_value(), fits) << piece;
      if (fits) {
        EXPECT_EQ(response->body, "body") << piece;
      } else {
        EXPECT_EQ(response.error().errno_value(), EMSGSIZE) << piece;
        EXPECT_EQ(exchange->status(), 0) << "it was shown before it was refused, in pieces of " << piece;
      }
    }
  }
}

// Interim answers, a body without a length and one in odd chunks: bytes as they may come.
TEST_F(OldServer, answers_may_come_in_any_of_the_allowed_forms) {
  const auto server = serve([](ScriptedServer& self, const ScriptedServer::Call& call) {
    if (call.request.target == "/interim") {
      self.raw(call.connection, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
    } else if (call.request.target == "/chunks") {
      self.raw(call.connection,
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;ext=1\r\ny\r\n2\r\nes\r\n0\r\nTrailer: "
               "1\r\n\r\n");
    } else {
      self.raw(call.connection, "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nyes");
    }
  });
  for (const char* target : {"/interim", "/chunks", "/close"}) {
    Client client = connect_to(*server);
    const auto response = client.send(get(target), soon());
    ASSERT_TRUE(response) << target << ": " << response.error().message();
    EXPECT_EQ(response->body, "yes") << target;
  }
}

}  // namespace
}  // namespace http
