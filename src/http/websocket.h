#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/tls.h"
#include "http/tuning.h"
#include "http/url.h"
#include "http/websocket_frame.h"
#include "http/wire.h"

namespace http {

// A connection of its own on which messages go both ways (RFC 6455). For one thread; what it waits for ends at the
// deadline and on stop. What comes while it sends is kept, up to the largest body of its tuning. Destroying it ends the
// connection.
class WebSocket {
 public:
  struct Place {
    Url server;
    std::optional<Url> proxy;
    TlsContext tls;  // One that offers HTTP/1.1 only: HTTP/2 has no upgrade.
    Tuning tuning{};
  };
  // Asks for one of the sub-protocols, which stand in the order of preference with commas between. A server that does
  // not change over has answered in words of its own: that is no error here.
  static base::Result<std::variant<WebSocket, Response>> open(const Place& place, Request request,
                                                              std::string_view protocols, base::TimePoint deadline,
                                                              const std::stop_token& stop);

  const std::string& protocol() const { return protocol_; }  // The one that the server chose.

  base::Status send(std::string_view message, base::TimePoint deadline, const std::stop_token& stop);  // As binary.
  // The next message, of whatever kind; nothing where the server has closed.
  base::Result<std::optional<std::string>> receive(base::TimePoint deadline, const std::stop_token& stop);

 private:
  WebSocket(Wire wire, std::string protocol, std::size_t largest)
      : wire_(std::move(wire)), protocol_(std::move(protocol)), largest_(largest), frames_(largest) {}

  base::Status put(Frame::Kind kind, std::string_view payload, base::TimePoint deadline, const std::stop_token& stop);
  base::Status take_what_came();

  Wire wire_;
  std::string protocol_;
  std::size_t largest_;
  FrameReader frames_;
};

}  // namespace http
