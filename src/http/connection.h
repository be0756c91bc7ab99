#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "http/resolve.h"
#include "http/session.h"
#include "http/tls.h"
#include "http/tuning.h"
#include "http/tunnel.h"
#include "http/url.h"

namespace http {

// One connection from its name look-up to its end, driven by advance(); it never blocks. Requests may be started in
// it from the beginning: they leave when it is open. When it fails, all of them fail with its error.
class Connection {
 public:
  Connection(const Url& server, const std::optional<Url>& proxy, TlsContext tls, const Tuning& tuning,
             base::TimePoint now);

  Session& session() { return session_; }

  // What to wait for: this descriptor with these poll() events, or this instant.
  int fd() const;
  short events() const;
  base::TimePoint wake_at() const { return wake_at_; }

  void advance(base::TimePoint now);

  bool closed() const { return phase_ == Phase::closed; }
  bool takes_requests() const { return !closed() && !session_.going_away() && !retired_; }
  void retire() { retired_ = true; }  // No new requests; it ends with the last of the present ones.

 private:
  enum class Phase { resolving, connecting, tunnelling, handshaking, open, closed };

  void dial_next(base::TimePoint now);
  base::Status dial(const SocketAddress& address);
  void give_up_address(const base::Error& error, base::TimePoint now);
  void close(const base::Error& error);

  base::Status finish_connect();
  base::Status begin_handshake();
  base::Result<bool> handshake();  // True: done.
  void serve(base::TimePoint now);
  base::Result<bool> read();  // True: something came.
  base::Status gather();
  base::Status write();
  base::Status watch_peer(base::TimePoint now, bool heard);

  const Url server_;
  const TlsContext tls_;
  const Tuning tuning_;
  Session session_;
  const bool has_proxy_;

  Phase phase_ = Phase::resolving;
  bool retired_ = false;
  Resolution resolution_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  std::string failures_;  // One per address, for the error at the end.
  base::Fd socket_;
  std::optional<Tunnel> tunnel_;  // While tunnelling.
  TlsContext::Ssl ssl_;
  bool wants_write_ = false;
  std::string unsent_;
  std::size_t unsent_from_ = 0;

  base::TimePoint wake_at_;
  base::TimePoint dial_until_{};
  base::TimePoint heard_at_{};
  std::optional<base::TimePoint> pinged_at_;
};

}  // namespace http
