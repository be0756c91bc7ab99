#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/resolve.h"
#include "http/tls.h"
#include "http/tunnel.h"
#include "http/url.h"
#include "http/wire.h"

namespace http {

// How long the first of `left` addresses is tried, of which the last may take all the patience. One that swallows every
// packet is often the first again with the next connection: the others are to be reached before whoever waits gives up.
std::chrono::milliseconds share_of(std::chrono::milliseconds patience, std::size_t left);

// The way to a server: its name is looked up, its addresses are tried one after the other, through the proxy where
// there is one, and TLS is agreed on. Driven by advance(); it never blocks.
class Dial {
 public:
  // `patience`: for the look-up and for the last address; those before it have shares, see share_of().
  Dial(const Url& server, const std::optional<Url>& proxy, TlsContext tls, std::chrono::milliseconds patience,
       base::TimePoint now);
  // The same where it is known, or somebody else knows, what there is behind the name.
  Dial(const Url& server, const std::optional<Url>& proxy, Resolution resolution, TlsContext tls,
       std::chrono::milliseconds patience, base::TimePoint now);

  // What to wait for: this descriptor with these poll() events, or this instant.
  int fd() const;
  short events() const;
  base::TimePoint wake_at() const { return until_; }

  // True: connected. An error: no address is left, with what each of them said.
  base::Result<bool> advance(base::TimePoint now);
  Wire take() { return std::move(wire_); }  // Once it is.

 private:
  enum class Phase { resolving, connecting, tunnelling, handshaking };

  base::Result<bool> step();
  base::Status dial_next(base::TimePoint now);
  base::Status dial(const SocketAddress& address);
  base::Status give_up_address(const base::Error& error, base::TimePoint now);
  base::Status finish_connect();
  base::Status begin_session();  // With TLS, its handshake comes first.

  const Url server_;
  const TlsContext tls_;
  const std::chrono::milliseconds patience_;
  const std::optional<Url> proxy_;

  Phase phase_ = Phase::resolving;
  std::optional<Resolution> resolution_;  // While resolving.
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  std::string failures_;  // One per address, for the error at the end.
  Wire wire_;
  std::optional<Tunnel> tunnel_;  // While tunnelling.
  base::TimePoint until_;
};

}  // namespace http
