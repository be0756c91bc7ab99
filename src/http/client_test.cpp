#include "http/client.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/tls1.h>

#include "base/file.h"
#include "http/gzip_test.h"
#include "http/scripted_server_test.h"
#include "http/server.h"
#include "http/server_certificate.h"

namespace http {
namespace {

using base::Fault;
using namespace std::chrono_literals;

TEST(Client, a_request_gets_its_answer) {
  ScriptedServer server(echo);
  Client client = connect_to(server);
  const auto response = client.send({.method = "POST", .target = "/a?b=c", .headers = {}, .body = "text"}, soon());
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /a?b=c text");
}

TEST(Client, large_bodies_pass_in_both_directions) {
  ScriptedServer server(echo);
  Client client = connect_to(server, {.stream_window = 70'000, .connection_window = 100'000});
  const std::string body(3'000'000, 'x');
  const auto response = client.send({.method = "PUT", .target = "/", .headers = {}, .body = body}, soon());
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->body, "PUT / " + body);
}

TEST(Client, many_threads_share_one_connection) {
  ScriptedServer server(echo);
  Client client = connect_to(server);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string target = "/" + std::to_string(t) + "/" + std::to_string(i);
          const auto response = client.send(get(target), soon());
          if (response && response->body == "GET " + target + " ") ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 400);
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, no_answer_is_a_timeout_and_frees_the_stream) {
  ScriptedServer server([](auto&, const auto&) {});
  Client client = connect_to(server);
  const auto response = client.send(get("/"), soon(300ms));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::timeout);
  while (server.resets_seen() == 0) std::this_thread::yield();
}

TEST(Client, stopping_ends_the_wait) {
  ScriptedServer server([](auto&, const auto&) {});
  Client client = connect_to(server);
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (server.accepted() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  const auto response = client.send(get("/"), soon(), stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::cancelled);
}

TEST(Client, who_was_stopped_before_asks_nothing) {
  ScriptedServer server(
      [](ScriptedServer& self, const auto& call) { self.answer(call, 200, std::to_string(call.connection)); });
  Client client = connect_to(server);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(client.send(get("/"), soon(), stop.get_token()).error().fault(), Fault::cancelled);
  EXPECT_EQ(client.open(get("/"), soon(), stop.get_token()).error().fault(), Fault::cancelled);
  client.replace_tls(*TlsContext::load(server.trust()));  // A connection that one of them had begun would be another.
  EXPECT_EQ(client.send(get("/"), soon())->body, "1");
}

// Who waited too long for a turn or for a token has no time left: what he asked for may be out of date.
TEST(Client, whose_time_is_over_asks_nothing) {
  std::atomic<int> asked = 0;
  ScriptedServer server([&](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/late") ++asked;
    self.answer(call, 200, "fine");
  });
  Client client = connect_to(server);
  ASSERT_TRUE(client.send(get("/"), soon()));
  const auto past = base::now() - 1s;
  const auto is_over = [](const auto& answer) { return !answer && answer.error().fault() == Fault::timeout; };
  for (int i = 0; i < 500; ++i) {  // Some would be sent before they are taken back.
    ASSERT_TRUE(is_over(client.send(get("/late"), past)));
    ASSERT_TRUE(is_over(client.open(get("/late"), past)));
  }
  ASSERT_TRUE(client.send(get("/"), soon()));  // What came before it on the connection has arrived.
  EXPECT_EQ(asked, 0);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = client.send(get("/"), past, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().fault(), Fault::cancelled) << "the better reason";
}

TEST(Client, nobody_listening_is_unavailable_and_names_the_address) {
  Url url;
  TlsOptions trust;
  {
    ScriptedServer server(echo);
    url = server.url();
    trust = server.trust();
  }
  Client client(url, *TlsContext::load(trust));
  const auto response = client.send(get("/"), soon());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::unavailable);
  EXPECT_NE(response.error().message().find("connect 127.0.0.1:"), std::string::npos) << response.error().message();
}

TEST(Client, an_unknown_certificate_is_refused) {
  ScriptedServer server(echo);
  TlsOptions other;
  other.ca = make_identity("DNS:other").certificate;
  Client client(server.url(), *TlsContext::load(other));
  const auto response = client.send(get("/"), soon());
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message().find("certificate"), std::string::npos) << response.error().message();
}

TEST(Client, a_certificate_for_another_name_is_refused) {
  ScriptedServer server(echo);
  TlsOptions trust = server.trust();
  trust.server_name = "kubernetes.default.svc";
  Client strict(server.url(), *TlsContext::load(trust));
  const auto refused = strict.send(get("/"), soon());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("ostname mismatch"), std::string::npos) << refused.error().message();

  trust.server_name = "localhost";
  Client matching(server.url(), *TlsContext::load(trust));
  EXPECT_TRUE(matching.send(get("/"), soon()));
}

// A name as resolvers take it, to be looked up as it stands: the dot at its end is in no certificate. Nor do capital
// letters make another one.
TEST(Client, a_dot_at_the_end_of_a_name_and_capital_letters_are_no_other_name) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, self.server_name(call)); });
  TlsOptions trust = server.trust();
  const auto name_told = [&](const std::string& name) {
    trust.server_name = name;
    const auto response = Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon());
    return response ? response->body : response.error().message();
  };
  EXPECT_EQ(name_told("localhost."), "localhost");
  EXPECT_EQ(name_told("LocalHost"), "LocalHost");
  for (const char* other : {"localhost..", ".", "..", "other."}) {
    EXPECT_NE(name_told(other).find("ostname mismatch"), std::string::npos) << other;
  }
}

// Most clusters are dialled by an address: what a certificate says of names does not vouch for it.
TEST(Client, a_certificate_for_another_address_is_refused) {
  const Identity ca = make_identity("DNS:ca", "ca");
  ScriptedServer server(echo);
  server.present(make_identity("IP:127.0.0.2,DNS:localhost,DNS:127.0.0.1", "127.0.0.1", &ca));
  TlsOptions trust;
  trust.ca = ca.certificate;
  const auto refused = Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("IP address mismatch"), std::string::npos) << refused.error().message();
  trust.server_name = "127.0.0.2";
  EXPECT_TRUE(Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon()));
}

TEST(Client, a_certificate_that_has_expired_is_refused) {
  const Identity ca = make_identity("DNS:ca", "ca");
  ScriptedServer server(echo);
  server.present(make_identity("IP:127.0.0.1", "server", &ca, -1h));
  TlsOptions trust;
  trust.ca = ca.certificate;
  const auto refused = Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("certificate has expired"), std::string::npos) << refused.error().message();
}

// Behind an address that many share it is the name by which we come to the right one.
TEST(Client, a_server_is_told_the_name_that_is_meant_also_where_it_is_not_checked) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, self.server_name(call)); });
  const auto name_told = [&](const TlsOptions& options, const std::string& host) {
    Url url = server.url();
    url.host = host;
    const auto response = Client(url, *TlsContext::load(options)).send(get("/"), soon());
    return response ? response->body : response.error().message();
  };
  EXPECT_EQ(name_told(server.trust(), "localhost"), "localhost");
  EXPECT_EQ(name_told(server.trust(), "127.0.0.1"), "") << "an address is no name";
  TlsOptions unchecked{.insecure = true};
  EXPECT_EQ(name_told(unchecked, "localhost"), "localhost");
  EXPECT_EQ(name_told(unchecked, "127.0.0.1"), "");
  unchecked.server_name = "api.example";
  EXPECT_EQ(name_told(unchecked, "127.0.0.1"), "api.example");
}

// A company's root signs the cluster's CA, which alone is in the kubeconfig.
TEST(Client, a_ca_that_another_one_has_signed_is_trusted) {
  const Identity root = make_identity("DNS:root", "root");
  const Identity ours = make_identity("DNS:ours", "ours", &root);
  const Identity theirs = make_identity("DNS:theirs", "theirs", &root);
  ScriptedServer server(echo);
  server.present(make_identity("IP:127.0.0.1", "server", &ours));
  TlsOptions trust;
  trust.ca = ours.certificate;
  const auto response = Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon());
  EXPECT_TRUE(response) << response.error().message();
  trust.ca = theirs.certificate;
  EXPECT_FALSE(Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon()));
}

TEST(Client, the_subject_of_a_certificate_is_no_name_of_a_server) {
  ScriptedServer server(echo);
  const Identity identity = make_identity("IP:127.0.0.1", "localhost");
  server.present(identity);
  TlsOptions trust;
  trust.ca = identity.certificate;
  EXPECT_TRUE(Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon()));
  trust.server_name = "localhost";
  const auto refused = Client(server.url(), *TlsContext::load(trust)).send(get("/"), soon());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("ostname mismatch"), std::string::npos) << refused.error().message();
}

TEST(Client, what_a_server_says_of_our_certificate_is_told) {
  ScriptedServer server(echo);
  server.demand_certificates();
  Client client = connect_to(server);
  const auto refused = client.send(get("/"), soon());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("certificate required"), std::string::npos) << refused.error().message();
}

TEST(Client, every_address_of_a_name_is_tried) {
  ScriptedServer server(echo, "127.0.0.1");  // `localhost` is ::1 too, where nobody listens.
  Url url = server.url();
  url.host = "localhost";
  Client client(url, *TlsContext::load(server.trust()));
  const auto response = client.send(get("/"), soon());
  EXPECT_TRUE(response) << response.error().message();
}

TEST(Client, ipv6_literals_work) {
  ScriptedServer server(echo, "::1");
  Client client = connect_to(server);
  const auto response = client.send(get("/"), soon());
  EXPECT_TRUE(response) << response.error().message();
}

TEST(Client, a_lost_connection_fails_what_is_under_way_and_is_made_again) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/cut") return self.cut(call.connection);
    self.answer(call, 200, "fine");
  });
  Client client = connect_to(server);
  const auto lost = client.send(get("/cut"), soon());
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().fault(), Fault::unavailable);
  EXPECT_TRUE(client.send(get("/"), soon()));
  EXPECT_EQ(server.accepted(), 2);
}

TEST(Client, a_silent_peer_is_given_up_after_a_ping) {
  ScriptedServer server([](ScriptedServer& self, const auto&) { self.freeze(); });
  Client client = connect_to(server, {.ping_after = 50ms, .ping_timeout = 50ms});
  const auto response = client.send(get("/"), soon());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::unavailable);
  EXPECT_NE(response.error().message().find("silent"), std::string::npos) << response.error().message();
}

TEST(Client, a_peer_that_answers_pings_is_kept) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) { self.begin(call, 200); });
  Client client = connect_to(server, {.ping_after = 20ms, .ping_timeout = 10s});
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream) << stream.error().message();
  const auto bytes = stream->read(soon(300ms), {});  // Many pings long.
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().fault(), Fault::timeout);
}

TEST(Client, a_reset_stream_leaves_the_others_alone) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/reset") return self.reset(call, 2);
    self.begin(call, 200);
    if (call.request.target == "/go") self.end(call);
  });
  Client client = connect_to(server);
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream);
  const auto response = client.send(get("/reset"), soon());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::unavailable);
  EXPECT_TRUE(client.send(get("/go"), soon()));
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, going_away_moves_new_requests_and_drains_the_old_connection) {
  ScriptedServer::Call watch;
  ScriptedServer server([&](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/watch") {
      watch = call;
      self.begin(call, 200);
      self.go_away(call.connection, call.stream);
    } else {
      self.answer(call, 200, std::to_string(call.connection));
    }
  });
  Client client = connect_to(server);
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream);
  while (server.accepted() < 2) std::this_thread::yield();  // The successor comes unasked.
  EXPECT_EQ(client.send(get("/"), soon())->body, "2");

  server.post([&] {
    server.more(watch, "still here");
    server.end(watch);
  });
  EXPECT_EQ(*stream->read(soon(), {}), "still here");
  EXPECT_EQ(*stream->read(soon(), {}), "");
}

TEST(Client, a_request_the_server_never_looked_at_is_sent_again) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.connection == 1) return self.go_away(call.connection, 0);
    self.answer(call, 200, "second");
  });
  Client client = connect_to(server);
  const auto response = client.send({.method = "POST", .target = "/", .headers = {}, .body = "once"}, soon());
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->body, "second");
}

TEST(Client, a_refused_stream_is_opened_again_at_once) {
  std::atomic<int> calls = 0;
  ScriptedServer server([&](ScriptedServer& self, const auto& call) {
    constexpr std::uint32_t kRefusedStream = 7;
    if (++calls == 2) return self.reset(call, kRefusedStream);
    self.answer(call, 200, std::to_string(calls));
  });
  Client client = connect_to(server, {.ping_after = 1h});  // Nothing else wakes the transport's thread.
  ASSERT_TRUE(client.send(get("/"), soon()));              // Whatever a new connection has to say is said.
  const auto response = client.send(get("/"), soon());
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->body, "3");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, a_slow_reader_slows_only_its_own_stream) {
  constexpr std::size_t kWindow = 100'000;
  ScriptedServer::Call watch;
  ScriptedServer server([&](ScriptedServer& self, const auto& call) {
    if (call.request.target != "/watch") return self.answer(call, 200, std::string(1'000'000, 'y'));
    watch = call;
    self.begin(call, 200);
    self.more(call, std::string(1'000'000, 'x'));
    self.end(call);
  });
  Client client = connect_to(server, {.stream_window = kWindow, .connection_window = kWindow});
  auto stream = client.open(get("/watch"), soon());
  ASSERT_TRUE(stream);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.send(get("/bulk"), soon()));

  std::promise<std::size_t> unsent;
  server.post([&] { unsent.set_value(server.unsent(watch)); });
  EXPECT_GE(unsent.get_future().get(), 1'000'000 - kWindow);

  std::size_t got = 0;
  for (;;) {
    const auto bytes = stream->read(soon(), {});
    ASSERT_TRUE(bytes) << bytes.error().message();
    if (bytes->empty()) break;
    got += bytes->size();
  }
  EXPECT_EQ(got, 1'000'000);
}

TEST(Client, an_answer_beyond_the_limits_is_refused_alone) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/body") return self.answer(call, 200, std::string(200'000, 'x'));
    if (call.request.target == "/head") return self.answer(call, 200, "", {{"x-long", std::string(3000, 'x')}});
    self.answer(call, 200, "fine");
  });
  Client client = connect_to(server, {.max_header_bytes = 2000, .max_body_bytes = 100'000});
  for (const char* target : {"/body", "/head"}) {
    const auto response = client.send(get(target), soon());
    ASSERT_FALSE(response) << target;
    EXPECT_EQ(response.error().fault(), Fault::invalid);
    EXPECT_EQ(response.error().errno_value(), EMSGSIZE) << "who can ask for less is told to";
  }
  EXPECT_TRUE(client.send(get("/"), soon()));
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, a_packed_answer_is_unpacked_whole_or_refused) {
  const std::string text(50'000, 'x');
  ScriptedServer server([&](ScriptedServer& self, const auto& call) {
    const std::string packed = gzip(call.request.target == "/bomb" ? text + text : text);
    const auto size = call.request.target == "/damaged" ? packed.size() - 1 : packed.size();
    self.answer(call, 200, packed.substr(0, size), {{"content-encoding", "gzip"}});
  });
  Client client = connect_to(server, {.max_body_bytes = text.size()});
  const auto whole = client.send(get("/whole"), soon());
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->body, text);
  const auto damaged = client.send(get("/damaged"), soon());
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().fault(), Fault::invalid);
  EXPECT_EQ(damaged.error().errno_value(), 0);
  const auto bomb = client.send(get("/bomb"), soon());
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().errno_value(), EMSGSIZE) << "who can ask for less is told to";
}

// A frame of HTTP/2 (RFC 9113, 4.1).
std::string frame(char type, int flags, std::int32_t stream, const std::string& payload) {
  std::string out{'\0', '\0', static_cast<char>(payload.size()), type, static_cast<char>(flags)};
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
  return out + payload;
}

TEST(Client, what_comes_before_and_after_an_answer_is_no_part_of_it) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/first") return self.answer(call, 200, "");  // Its settings come before raw bytes.
    constexpr char kData = 0;
    constexpr char kHeaders = 1;
    constexpr int kEndStream = 1;
    constexpr int kEndHeaders = 4;
    const std::string hints = "\010\003103";                       // A literal; its name is that of entry 8.
    const std::string ok = "\210";                                 // ":status: 200" is entry 8 itself.
    const std::string trailer = std::string("\0\001t\003end", 7);  // A literal with a new name.
    self.raw(call.connection, frame(kHeaders, kEndHeaders, call.stream, hints) +
                                  frame(kHeaders, kEndHeaders, call.stream, ok) + frame(kData, 0, call.stream, "bo") +
                                  frame(kData, 0, call.stream, "dy") +
                                  frame(kHeaders, kEndHeaders | kEndStream, call.stream, trailer));
  });
  Client client = connect_to(server);
  ASSERT_TRUE(client.send(get("/first"), soon()));
  for (int i = 0; i < 2; ++i) {
    const auto response = client.send(get("/"), soon());
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "body");
    EXPECT_TRUE(response->headers.empty());
  }
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, garbage_from_the_server_ends_the_connection_not_the_client) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.connection == 1) return self.raw(call.connection, std::string(500, '\xff'));
    self.answer(call, 200, "fine");
  });
  Client client = connect_to(server);
  const auto response = client.send(get("/"), soon());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().fault(), Fault::unavailable);
  EXPECT_TRUE(client.send(get("/"), soon()));
}

TEST(Client, new_tls_settings_are_used_by_the_next_connection) {
  ScriptedServer server([](ScriptedServer& self, const auto& call) {
    if (call.request.target == "/watch") return self.begin(call, 200);
    self.answer(call, 200, std::to_string(call.connection));
  });
  Client client = connect_to(server);
  auto watch = client.open(get("/watch"), soon());
  ASSERT_TRUE(watch);
  client.replace_tls(*TlsContext::load(server.trust()));
  EXPECT_EQ(client.send(get("/"), soon())->body, "2");
  EXPECT_EQ(watch->read(soon(50ms), {}).error().fault(), Fault::timeout);  // Not cut.
}

TEST(Client, speaks_tls_1_2_and_newer_only) {
  const auto answer_of = [](int version) {
    ScriptedServer server([](ScriptedServer& self, const auto& call) { self.answer(call, 200, "hello"); });
    server.speak_at_most(version);
    return connect_to(server).send(get("/"), soon());
  };
  EXPECT_TRUE(answer_of(TLS1_2_VERSION));
  const auto refused = answer_of(TLS1_1_VERSION);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("protocol"), std::string::npos) << refused.error().message();
}

TEST(PlainServer, needs_no_tls) {
  Routes routes;
  routes.add("/", [](const Request&) { return plain_text(200, "plain"); });
  auto server = Server::listen(*ListenAddress::parse("127.0.0.1:0"), std::move(routes));
  ASSERT_TRUE(server) << server.error().message();
  const std::jthread serving([&](std::stop_token stop) { server->serve(std::move(stop)); });
  Client client({.scheme = "http", .host = "127.0.0.1", .port = server->port(), .path = ""}, *TlsContext::load({}));
  for (int i = 0; i < 2; ++i) {
    const auto response = client.send(get("/"), soon());
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->body, "plain");
  }
}

// As a disk that is full or a hasty copy leaves it.
std::string cut(const std::string& certificate) {
  return certificate.substr(0, certificate.size() / 2);
}

// Whom the rest would have vouched for is refused much later, and for no reason that one can see.
TEST(Tls, a_bundle_is_trusted_as_a_whole_or_not_at_all) {
  const std::string one = make_identity("DNS:a").certificate;
  const std::string two = make_identity("DNS:b").certificate;
  const auto load = [](const std::string& ca) {
    const auto loaded = TlsContext::load({.ca = ca});
    return loaded ? "trusted" : loaded.error().message();
  };
  EXPECT_EQ(load(one + two), "trusted");
  EXPECT_EQ(load("ours\n" + one + "\n# theirs: from 2026 on\n" + two + "end"), "trusted");
  EXPECT_EQ(load(make_identity("DNS:c").key + one), "trusted") << "what is no certificate is none of ours";
  EXPECT_EQ(load(one + cut(two)), "certificate 2 of the CA data cannot be read: bad end line");
  EXPECT_TRUE(load(one + cut(two) + one).starts_with("certificate 2 of the CA data cannot be read"));
  EXPECT_EQ(load(cut(one)), "certificate 1 of the CA data cannot be read: bad end line");
  EXPECT_EQ(load(one + two + "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n" + one),
            "certificate 3 of the CA data cannot be read");
}

TEST(Tls, a_servers_chain_that_is_cut_is_not_shown) {
  std::string name = (std::filesystem::temp_directory_path() / "chain-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const ServerCertificate::Files files{.certificate = folder / "tls.crt", .key = folder / "tls.key"};
  const Identity ca = make_identity("DNS:ca", "ca");
  const Identity server = make_identity("DNS:a", "server", &ca);
  ASSERT_TRUE(base::write_file(files.certificate, server.certificate + ca.certificate));
  ASSERT_TRUE(base::write_file(files.key, server.key));
  const auto shown = ServerCertificate::from_files(files).value();
  const auto whole = shown->current();
  ASSERT_TRUE(base::write_file(files.certificate, server.certificate + cut(ca.certificate)));
  EXPECT_EQ(shown->current(), whole) << "what was good stays";
  constexpr std::string_view kWhy = "certificate 2 of the chain cannot be read: bad end line";
  EXPECT_EQ(shown->problem(), kWhy);
  const auto at_start = ServerCertificate::from_files(files);
  EXPECT_EQ(at_start ? "shown" : at_start.error().message(), kWhy);
  std::filesystem::remove_all(folder);
}

TEST(Tls, bad_material_is_named) {
  const auto load = [](TlsOptions options) { return TlsContext::load(options).error().message(); };
  const Identity one = make_identity("DNS:a");
  const Identity two = make_identity("DNS:b");
  TlsOptions options;
  options.ca = "not PEM";
  EXPECT_EQ(load(options), "the CA data holds no PEM certificate");
  options.ca = one.certificate;
  options.certificate = one.certificate;
  EXPECT_EQ(load(options), "a client certificate without its key");
  options.key = "not PEM";
  EXPECT_NE(load(options).find("the client key is not PEM"), std::string::npos);
  options.key = two.key;
  EXPECT_NE(load(options).find("the client key does not belong"), std::string::npos);
  options.key = one.key;
  EXPECT_TRUE(TlsContext::load(options));
  options.certificate = one.certificate + cut(two.certificate);
  EXPECT_EQ(load(options), "certificate 2 of the client chain cannot be read: bad end line");
  options.certificate = cut(one.certificate);
  EXPECT_EQ(load(options), "certificate 1 of the client chain cannot be read: bad end line");
  options.certificate.clear();
  options.places.key = "/path/config: users[jane].client-key-data";
  EXPECT_EQ(load(options), "/path/config: users[jane].client-key-data: a client key without its certificate");
}

}  // namespace
}  // namespace http
