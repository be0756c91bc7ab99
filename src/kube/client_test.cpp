#include "kube/client.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "http/one_time_proxy_test.h"
#include "http/scripted_server_test.h"
#include "http/websocket.h"

namespace kube {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using http::ScriptedServer;

constexpr auto kGoOn = "HTTP/1.1 200 Connection established\r\n\r\n";

http::Request question() {
  return {.method = "GET", .target = "/talk", .headers = {}, .body = {}};
}

// A server of HTTP/1.1 that only tests know, and a client for it.
class ClientOf : public testing::Test {
 protected:
  void serve(ScriptedServer::Script script) {
    server_ = std::make_unique<ScriptedServer>(std::move(script), "127.0.0.1", ScriptedServer::Speaks::http1);
    config_.server = server_->url();
    config_.ca.data = server_->trust().ca;
  }
  std::unique_ptr<Client> connect() {
    auto client = Client::connect(config_);
    EXPECT_TRUE(client) << client.error().message();
    return client ? *std::move(client) : nullptr;
  }

  std::unique_ptr<ScriptedServer> server_;
  Config config_;
};

// Accounts' tokens are replaced in their file; the first call after that may still have the last one.
class ClientOfTokenFile : public ClientOf {
 protected:
  ClientOfTokenFile() {
    std::string name = (fs::temp_directory_path() / "token-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    config_.token_file = folder_ / "token";
    put_token("old");
  }
  ~ClientOfTokenFile() override { fs::remove_all(folder_); }

  void put_token(const std::string& token) { EXPECT_TRUE(base::write_file(folder_ / "token", token)); }

  // The new token is there when the old one is refused.
  void serve_new_token(bool is_good) {
    serve([this, is_good](ScriptedServer& self, const ScriptedServer::Call& call) {
      shown_.emplace_back(http::find(call.request.headers, "authorization").value_or(""));
      if (is_good && shown_.back() == "Bearer new") return self.raw(call.connection, http::welcome(call.request));
      put_token("new");
      self.answer(call, 401, "who?");
    });
  }
  std::vector<std::string> shown() {
    server_->close();
    return shown_;
  }

 private:
  fs::path folder_;
  std::vector<std::string> shown_;  // The server's thread writes.
};

TEST_F(ClientOfTokenFile, a_socket_is_opened_again_with_a_token_that_came_meanwhile) {
  serve_new_token(true);
  auto socket = connect()->open_socket(question(), "second", within(20s));
  ASSERT_TRUE(socket) << socket.error().message();
  EXPECT_EQ(socket->protocol(), "second");
  EXPECT_EQ(shown(), (std::vector<std::string>{"Bearer old", "Bearer new"}));
}

TEST_F(ClientOfTokenFile, a_socket_is_refused_with_the_second_no) {
  serve_new_token(false);
  const auto socket = connect()->open_socket(question(), "second", within(20s));
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().status->code, 401);
  EXPECT_EQ(shown(), (std::vector<std::string>{"Bearer old", "Bearer new"}));
}

TEST_F(ClientOfTokenFile, a_call_refused_while_the_file_is_away_says_so) {
  config_.token_field = "users[jane].tokenFile";
  serve([this](ScriptedServer& self, const ScriptedServer::Call& call) {
    fs::remove(config_.token_file);
    self.answer(call, 401, "who?");
  });
  const std::string why = "getting credentials: users[jane].tokenFile: open " + config_.token_file.string() +
                          ": No such file or directory: 401 who?";
  const auto client = connect();
  EXPECT_EQ(client->send(question(), within(20s)).error().message(), why);
  EXPECT_EQ(client->open_socket(question(), "second", within(20s)).error().message(), why);
}

// A configured proxy is for every connection.
class ClientBehindProxy : public ClientOf {
 protected:
  void serve_through_proxy(ScriptedServer::Script script) {
    serve(std::move(script));
    proxy_ = std::make_unique<http::OneTimeProxy>(kGoOn, server_->url().port);
    config_.proxy = proxy_->url();
  }
  void expect_that_the_proxy_was_asked() {
    EXPECT_TRUE(proxy_->asked().starts_with("CONNECT " + server_->url().authority() + " HTTP/1.1\r\n"))
        << proxy_->asked();
  }

 private:
  std::unique_ptr<http::OneTimeProxy> proxy_;
};

TEST_F(ClientBehindProxy, calls_go_through_it) {
  serve_through_proxy(http::echo);
  const auto answer = connect()->send(question(), within(20s));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, "GET /talk ");
  expect_that_the_proxy_was_asked();
}

TEST_F(ClientBehindProxy, sockets_go_through_it) {
  serve_through_proxy([](ScriptedServer& self, const ScriptedServer::Call& call) {
    self.raw(call.connection, http::welcome(call.request));
  });
  {
    const auto socket = connect()->open_socket(question(), "second", within(20s));
    ASSERT_TRUE(socket) << socket.error().message();
  }
  expect_that_the_proxy_was_asked();
}

}  // namespace
}  // namespace kube
