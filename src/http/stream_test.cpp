#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using base::Fault;
using namespace std::chrono_literals;

// Who follows a stream is called by the transport's thread, piece by piece, and sleeps meanwhile; unless a piece is
// large or the call slow.
class Follow : public testing::Test {
 protected:
  void say(const std::string& bytes) {
    server_.post([this, bytes] { server_.more(*call_, bytes); });
  }

  std::optional<ScriptedServer::Call> call_;  // The server's thread.
  ScriptedServer server_{[this](ScriptedServer& server, const ScriptedServer::Call& call) {
    if (call.request.target == "/other") return server.answer(call, 200, "fine");
    call_ = call;
    server.begin(call, 200);
    server.more(call, "first ");
  }};
  Client client_ = connect_to(server_, {.stream_window = 70'000});
  base::Result<Stream> stream_ = client_.open(get("/"), soon());
};

TEST_F(Follow, every_piece_comes_in_order_and_then_the_end) {
  ASSERT_TRUE(stream_) << stream_.error().message();
  std::string heard;
  const std::string much(1'000'000, 'x');  // Many times the window.
  const std::string all = "first second " + much + "last";
  const auto take = [&](std::string_view bytes) {
    if (heard.empty()) say("second ");
    if (heard == "first ") say(much);
    heard += bytes;
    if (heard.size() == all.size() - 4) say("last");
    if (heard.size() == all.size()) server_.post([this] { server_.end(*call_); });
    return true;
  };
  const auto ended = stream_->follow(take, soon(), {});
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(heard, all);
}

TEST_F(Follow, who_has_enough_is_not_called_again) {
  ASSERT_TRUE(stream_) << stream_.error().message();
  int calls = 0;
  const auto take = [&](std::string_view) {
    say("more ");
    return ++calls < 3;
  };
  EXPECT_TRUE(stream_->follow(take, soon(), {}));
  EXPECT_EQ(calls, 3);
}

// The last call asks the server something over the same connection: by the thread that owns it, no answer could come.
TEST_F(Follow, who_was_slow_once_is_called_by_its_own_thread_and_holds_up_nobody) {
  ASSERT_TRUE(stream_) << stream_.error().message();
  const auto caller = std::this_thread::get_id();
  bool was_slow = false;
  const auto take = [&](std::string_view) {
    say("more ");
    if (std::this_thread::get_id() != caller) {
      EXPECT_FALSE(std::exchange(was_slow, true));
      std::this_thread::sleep_for(50ms);  // This is the slowness.
    } else if (was_slow) {
      const auto answer = client_.send(get("/other"), soon());
      EXPECT_TRUE(answer) << answer.error().message();
      return false;
    }
    return true;
  };
  EXPECT_TRUE(stream_->follow(take, soon(), {}));
  EXPECT_TRUE(was_slow);
}

TEST_F(Follow, a_large_piece_is_taken_by_the_callers_thread) {
  ASSERT_TRUE(stream_) << stream_.error().message();
  const auto caller = std::this_thread::get_id();
  constexpr std::size_t kSmall = 16U << 10U;  // What the transport's thread takes itself, at most.
  const std::string large(60'000, 'x');
  std::size_t asked = 0;
  std::size_t got = 0;
  std::size_t largest = 0;
  const auto take = [&](std::string_view bytes) {
    got += bytes.size();
    largest = std::max(largest, bytes.size());
    EXPECT_TRUE(bytes.size() <= kSmall || std::this_thread::get_id() == caller) << bytes.size();
    if (got < asked) return true;
    say(large);  // Until it comes in one piece, or never does.
    asked += large.size();
    return largest <= kSmall && asked < 100 * large.size();
  };
  EXPECT_TRUE(stream_->follow(take, soon(), {}));
  EXPECT_GT(largest, kSmall) << "there was no large piece";
}

TEST_F(Follow, deadline_stop_and_a_lost_connection_end_it) {
  ASSERT_TRUE(stream_) << stream_.error().message();
  const auto take = [](std::string_view) { return true; };
  EXPECT_EQ(stream_->follow(take, soon(50ms), {}).error().fault(), Fault::timeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(stream_->follow(take, soon(), stop.get_token()).error().fault(), Fault::cancelled);
  server_.post([this] { server_.cut_all(); });
  EXPECT_EQ(stream_->follow(take, soon(), {}).error().fault(), Fault::unavailable);
}

// Of the server that these tests have: what is said too late must not stand in the next answer.
TEST(Scripted, what_is_said_after_the_end_of_a_call_goes_nowhere) {
  for (const auto speaks : {ScriptedServer::Speaks::http2, ScriptedServer::Speaks::http1}) {
    std::optional<ScriptedServer::Call> last;
    ScriptedServer server(
        [&](ScriptedServer& self, const ScriptedServer::Call& call) {
          if (last) {
            self.begin(*last, 500);
            self.more(*last, "late");
            self.end(*last);
            EXPECT_EQ(self.unsent(*last), 0U);
          }
          last = call;
          self.answer(call, 200, "fine");
          self.more(call, "late");
          self.end(call);
        },
        "127.0.0.1", speaks);
    Client client = connect_to(server);
    for (int i = 0; i < 3; ++i) {
      const auto answer = client.send(get("/"), soon());
      ASSERT_TRUE(answer) << answer.error().message();
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, "fine");
    }
  }
}

}  // namespace
}  // namespace http
