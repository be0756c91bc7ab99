#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "http/dial.h"
#include "http/session.h"
#include "http/tls.h"
#include "http/tuning.h"
#include "http/url.h"
#include "http/wire.h"

namespace http {

// One connection from its name look-up to its end, driven by advance(); it never blocks. HTTP/2 where the server speaks
// it, else HTTP/1.1. Requests may be started in it from the beginning: they leave when it is open. When it fails, all
// of them fail with its error.
class Connection {
 public:
  enum class Protocol { unknown, http1, http2 };

  // `expected`: what the last connection to this server has come to.
  Connection(const Url& server, const std::optional<Url>& proxy, TlsContext tls, const Tuning& tuning,
             Protocol expected, base::TimePoint now);

  Protocol protocol() const { return protocol_; }
  bool takes_requests() const;
  void start(std::shared_ptr<Exchange> exchange);
  bool cancel(const Exchange& exchange);  // False: not one of ours (any more).
  bool consumed(const Exchange& exchange, std::size_t bytes);
  // Those that have to go elsewhere; the server has not looked at them.
  std::vector<std::shared_ptr<Exchange>> take_refused();
  void fail_all(const base::Error& error);

  // What to wait for: this descriptor with these poll() events, or this instant.
  int fd() const;
  short events() const;
  base::TimePoint wake_at() const { return dial_ ? dial_->wake_at() : wake_at_; }

  void advance(base::TimePoint now);
  // Before a request is given to it: what has come meanwhile may be the server's good-bye. With HTTP/2 there is no need
  // to ask, for the server tells there which requests it has not looked at.
  void look(base::TimePoint now);

  bool closed() const { return phase_ == Phase::closed; }
  bool drains() const;                // The server takes no more of us, but some are still under way.
  void retire() { retired_ = true; }  // No new requests; it ends with the last of the present ones.

 private:
  enum class Phase { dialling, open, closed };

  void close(const base::Error& error);
  void open(base::TimePoint now);
  void serve(base::TimePoint now);
  base::Result<bool> read(base::TimePoint now);  // True: something came.
  void note_received(std::size_t size, base::TimePoint now);
  base::Status gather();
  base::Status write();
  base::Error lost(base::Error error) const;
  base::Status watch_peer(base::TimePoint now, bool heard);

  const Url server_;
  const Tuning tuning_;
  Protocol protocol_;

  Phase phase_ = Phase::dialling;
  std::optional<Dial> dial_;                        // Until it is open.
  std::vector<std::shared_ptr<Exchange>> waiting_;  // Until it is open.
  std::vector<std::shared_ptr<Exchange>> turned_away_;
  std::unique_ptr<Session> session_;  // While it is open.
  bool retired_ = false;
  Wire wire_;  // While it is open.
  std::string unsent_;
  std::size_t unsent_from_ = 0;

  std::size_t received_ = 0;  // Since then.
  base::TimePoint counted_from_{};
  bool gathers_ = false;  // What comes is left in the socket, until then.
  base::TimePoint read_from_{};

  base::TimePoint wake_at_{};  // While it is open.
  base::TimePoint heard_at_{};
  std::optional<base::TimePoint> pinged_at_;
};

}  // namespace http
