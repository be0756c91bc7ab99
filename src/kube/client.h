#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"
#include "kube/config.h"
#include "kube/error.h"
#include "kube/limit.h"
#include "kube/rate_limit.h"
#include "kube/request.h"
#include "kube/resource.h"
#include "kube/storage.h"

namespace http {
class WebSocket;
}

namespace kube {

// Who we are for the server: in its logs, and as the one owner of the fields we apply.
struct Actor {
  std::string user_agent = "ip-rule-operator";
  std::string field_manager = "ip-rule-operator";
};

// Told of every call when it is over, on the caller's thread: the method, the answer's code, 0 where none came, and how
// long that took; of a watch, until it began.
using CallObserver = std::function<void(std::string_view method, int code, base::Duration took)>;

// Calls to one API server from any number of threads, over one connection. Objects are JSON texts in both directions.
// Calls wait for their turn by `pace`, unless they are urgent. Two things are repeated here, for the server has done
// nothing yet: a 401 when the token file or the plugin has something new, and, as the deadline allows, a 429 after the
// time that the server asks for. So is, after that time, a question (GET) that meets a 503 with one: to ask twice does
// no harm. All else may have been done, and only the caller knows whether doing it again is right.
class Client {
 public:
  static base::Result<std::unique_ptr<Client>> connect(const Config& config, Actor actor = {}, Pace pace = {},
                                                       const http::Tuning& tuning = {});
  // For calls that are not to wait behind ours, nor ours behind them: a pace of its own, on the same connection and as
  // the same actor. Either may end first.
  std::unique_ptr<Client> beside(Pace pace) const;

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  void observe_calls(CallObserver observer);  // Of those beside it, too. For metrics; before the first call.

  Result<std::string> get(const Resource& resource, const Key& key, const Limit& limit);
  Result<std::string> list(const Resource& resource, const ListRequest& request, const Limit& limit);
  Result<std::string> create(const Resource& resource, std::string_view ns, std::string body, const Limit& limit,
                             UnknownFields unknown = UnknownFields::dropped);
  Result<std::string> update(const Resource& resource, const Key& key, std::string body, const Limit& limit,
                             UnknownFields unknown = UnknownFields::dropped);
  Result<std::string> update_status(const Resource& resource, const Key& key, std::string body, const Limit& limit);
  // Server-side apply is by our one field manager: fields in the body become and stay ours.
  Result<std::string> patch(const Resource& resource, const Key& key, PatchType type, std::string body,
                            const Limit& limit);
  Result<std::string> patch_status(const Resource& resource, const Key& key, PatchType type, std::string body,
                                   const Limit& limit);
  Result<std::string> remove(const Resource& resource, const Key& key, const Preconditions& preconditions,
                             const Limit& limit, std::optional<Propagation> propagation = {});

  // The stream of a watch; an answer that is not 200 is an error here already.
  Result<http::Stream> watch(const Resource& resource, const WatchRequest& request, const Limit& limit);

  // Messages both ways, on a connection of its own: `protocols` as WebSocket::open() takes them.
  Result<http::WebSocket> open_socket(http::Request request, std::string_view protocols, const Limit& limit);

  // Anything else: the path of `request` is below the server's URL. An answer of 400 and above is an error.
  Result<http::Response> send(http::Request request, const Limit& limit);

  Storage& storage();  // Behind the server; one with those beside it.

 private:
  struct Line;
  struct Shown;
  class Turns;
  Client(std::shared_ptr<Line> line, Pace pace);

  http::Request address(http::Request request) const;           // Below the server's URL, from us.
  Shown authorize(http::Request& request, const Limit& limit);  // Puts the token in.
  Result<http::Response> attempt(http::Request& request, const Limit& limit);
  base::Result<http::Response> ask(const http::Request& request, const Limit& limit);  // Once.
  base::Result<http::Stream> open(const http::Request& request, const Limit& limit);   // Once.
  base::Result<std::variant<http::WebSocket, http::Response>> change_over(const http::Request& request,
                                                                          std::string_view protocols,
                                                                          const Limit& limit);  // Once.
  Error failure(const http::Response& answer) const;  // With what may have led to it.
  base::Status wait_turn(const Limit& limit);
  Result<std::string> body(http::Request request, const Limit& limit);

  std::shared_ptr<Line> line_;  // Shared with those beside it.
  std::unique_ptr<Turns> turns_;
};

}  // namespace kube
