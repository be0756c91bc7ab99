#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "http/tls.h"

namespace http {

// A connected socket, with TLS or without. Never blocks.
class Wire {
 public:
  Wire() = default;
  explicit Wire(base::Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  base::Status secure(const TlsContext& tls, const std::string& host);  // TLS from here on,
  base::Result<bool> handshake();                                       // to be advanced until true.
  std::string_view protocol() const;                                    // What the handshake chose, if anything.

  // How many bytes went through, 0 where none can now. An error: the connection is lost, or ended() in good order.
  base::Result<std::size_t> read(std::span<char> into);
  base::Result<std::size_t> write(std::string_view bytes);
  bool holds_more() const;                           // Of what was received; what is still in the socket, poll() tells.
  bool wants_write() const { return wants_write_; }  // What was tried last waits for room in the socket.
  bool ended() const { return ended_; }

 private:
  base::Result<std::size_t> told(int result);

  base::Fd socket_;
  TlsContext::Ssl ssl_;
  bool wants_write_ = false;
  bool ended_ = false;
};

}  // namespace http
