#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "http/client.h"
#include "http/message.h"
#include "http/tls.h"
#include "http/url.h"

namespace http {

// A key and a certificate for these names or addresses, which another one signs, or it itself.
struct Identity {
  std::string certificate;
  std::string key;
};
Identity make_identity(const std::string& alternative_names /* "IP:127.0.0.1,DNS:localhost" */,
                       const std::string& common_name = "scripted", const Identity* issuer = nullptr,
                       std::chrono::seconds valid_for = std::chrono::hours(1));  // Negative: expired so long ago.

// An HTTP server over TLS on loopback that does what a test tells it: for the answers that no real server gives on
// demand. It speaks HTTP/2, or HTTP/1.1 alone where it is made so. The script runs on the server's thread for each
// request that has arrived whole, and so does what is posted.
class ScriptedServer {
 public:
  struct Call {
    int connection = 0;  // Numbered from 1 as they are accepted.
    std::int32_t stream = 0;
    Request request;
    // True once the client has left this stream; may be read on any thread.
    std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
  };
  using Script = std::function<void(ScriptedServer&, const Call&)>;
  enum class Speaks { http2, http1 };

  explicit ScriptedServer(Script script, const std::string& listen_on = "127.0.0.1", Speaks speaks = Speaks::http2);
  ~ScriptedServer();

  Url url() const;
  TlsOptions trust() const;
  // Before anybody connects.
  void present(const Identity& identity);  // Instead of its own.
  void demand_certificates();
  void speak_at_most(int tls_version);

  void close();  // Ends the thread: no script runs after this.
  int accepted() const { return accepted_; }
  int resets_seen() const { return resets_seen_; }

  void post(std::function<void()> work);

  // On the server's thread.
  void answer(const Call& call, int status, const std::string& body, const Headers& headers = {});
  void begin(const Call& call, int status, const Headers& headers = {});
  void more(const Call& call, const std::string& bytes);
  void end(const Call& call);
  void reset(const Call& call, std::uint32_t code);        // HTTP/2 only,
  void go_away(int connection, std::int32_t last_stream);  // as this.
  void cut(int connection);
  void cut_all();
  void raw(int connection, const std::string& bytes);
  void freeze() { frozen_ = true; }                 // Keeps every connection and says nothing any more.
  std::size_t unsent(const Call& call) const;       // Of its answer; of one that is closed, nothing.
  std::string server_name(const Call& call) const;  // That the client asked for (SNI); empty: none.

 private:
  struct Peer;
  struct Callbacks;
  Peer* peer(int connection) const;
  void run(std::stop_token stop);
  void do_posted();
  void accept();
  void serve(Peer& peer);
  void take_requests(Peer& peer);

  Script script_;
  Speaks speaks_;
  Identity identity_;
  std::string host_;
  base::Fd listener_;
  base::Fd wake_;
  std::uint16_t port_ = 0;
  std::shared_ptr<void> context_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  std::map<int, std::unique_ptr<Peer>> peers_;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> resets_seen_ = 0;
  std::atomic<bool> frozen_ = false;
  std::jthread thread_;
};

// What most tests say to it.
inline base::TimePoint soon(std::chrono::milliseconds wait = std::chrono::seconds(20)) {
  return base::SteadyClock().now() + wait;
}
Client connect_to(const ScriptedServer& server, const Tuning& tuning = {});
Request get(std::string target);

// A script: the answer is the request.
void echo(ScriptedServer& server, const ScriptedServer::Call& call);

// How a server changes over to a WebSocket (RFC 6455, 4.2.2).
std::string welcome(const Request& request, const std::string& protocol = "second");

}  // namespace http
