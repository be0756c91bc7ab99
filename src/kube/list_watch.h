#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/backoff.h"
#include "base/clock.h"
#include "json/reader.h"
#include "kube/error.h"
#include "kube/request.h"
#include "kube/sink.h"
#include "kube/watch.h"

namespace kube {

// Keeps a Sink equal to what the server holds: decides what to ask, and takes the answers. It does no I/O and knows no
// clock, so that every order of faults can be tried; run() in reflector.h does the talking.
//
// Its first list comes in pages: no server has a quicker way for JSON. A page that is refused for its size is asked for
// again by half as many objects; pages that expire before the last of them give way to the whole list at once. Later
// lists, for which all its clients may come to a server at once, come by a stream where it can; one that fails is tried
// in pages next. From there it follows changes, and lists again when the server has forgotten our version (410, in an
// answer or in an event). A list older than what was seen is refused, unless two consistent reads say that the storage
// itself has fallen back. A watch that was cut short is resumed only after the server has shown that it still reaches
// our version: from a later one than its own, it would serve silence. Where it has reached it a second time, only
// another kind can tell (storage.h).
//
// An event that never came is missed by nobody: a watch goes on from its version as if all were well. So about once an
// hour, when the watch is renewed anyway, the whole state is listed first.
class ListWatch {
 public:
  struct Options {
    Selection selection;
    unsigned page_size = 1000;  // Objects. A page is held whole, with some three times its bytes while it is decoded.
    base::TimePoint begin{};    // Not before: clients that start together need not come together.
    const json::Schema* schema = nullptr;  // Of the objects as messages: the server is asked for those, then.
    std::chrono::seconds watch_time{300};  // The least; up to twice that, so that clients do not return together.
    base::Duration patience = std::chrono::seconds(30);  // Between two pieces of a streamed list.
  };

  struct Pause {
    base::TimePoint until;
  };
  struct List {
    ListRequest request;
    bool is_whole = true;  // Its pages are followed to the last; of another, the first says all that is wanted.
  };
  struct Watch {
    WatchRequest request;
  };
  using Step = std::variant<Pause, List, Watch>;

  ListWatch(Options options, Sink& sink, std::uint64_t seed);

  Step next(base::TimePoint now);

  // What is known is to be confirmed: the next step is a list of the newest state. Between two steps, or after one that
  // was given up.
  void list_again();

  // The same, where another kind has seen the storage fall back: our version means nothing any more, even if the server
  // has reached it again.
  void storage_fell_back();

  // What came of the step. Exactly one of listed(), failed(), or opened() with its stream.
  void listed(std::string_view body, base::TimePoint now);
  void failed(const Error& error, base::TimePoint now);

  void opened(base::TimePoint now);
  bool heard(std::string_view bytes, base::TimePoint now);  // False: close the stream and ask next().
  void ended(base::TimePoint now);                          // The server closed it in good order.
  void silent(base::TimePoint now);                         // quiet_until() has passed.
  base::TimePoint quiet_until() const;                      // How long to wait for the stream's next bytes.
  bool brings_list() const { return initial_; }             // The stream does: much to decode, in one go.

  // Why nothing new comes at present, and how often that has begun anew.
  const std::optional<base::Error>& trouble() const { return trouble_; }
  std::uint64_t failures() const { return failures_; }
  std::uint64_t lists() const { return lists_; }  // That were taken whole.
  std::uint64_t falls() const { return falls_; }  // Of the storage, as seen here first.

 private:
  base::Status take_page(std::string_view body);
  base::Status take_confirmation(std::string_view body);
  Result<void> take_events();
  Result<void> take_event(const Event& event);
  base::Status finish_list(std::uint64_t version);
  void begin_list();
  void drop_list();
  void stop_following(base::TimePoint now);
  void forget_events();
  void back_off(const Error& error, base::TimePoint now);
  void all_is_well();
  std::chrono::seconds draw_timeout();

  const Options options_;
  Sink& sink_;
  json::Reader reader_;
  base::Backoff backoff_;
  std::uint64_t random_;

  // What we have.
  std::uint64_t version_ = 0;  // The newest that was seen.
  bool must_list_ = true;
  bool consistent_ = false;  // The next list takes no state but the newest, and nothing known for granted.
  bool fell_back_ = false;   // The last consistent list was older than what we had seen.
  bool was_told_ = false;    // That it has fallen back: the next list is believed, whatever its version.
  bool was_cut_ = false;     // Whoever answers next may be another server, or have another storage.
  base::TimePoint streams_from_ = base::TimePoint::min();  // Lists: the server refuses that, until it is asked again.
  bool page_once_ = false;                                 // A streamed list failed: take pages this time.
  bool whole_once_ = false;                                // Its pages expired: take the list in one this time.
  base::Duration followed_{0};                             // By watches, since the last list.
  unsigned page_size_;                                     // As large as was not refused.

  // The list or watch under way.
  bool listing_ = false;
  std::string page_token_;
  EventReader events_;
  bool initial_ = false;  // The stream still brings the list.
  bool follows_ = false;  // It brings what comes after it.
  bool spoke_ = false;    // It brought an event or a bookmark.
  std::chrono::seconds timeout_{0};
  base::TimePoint opened_at_{};
  base::TimePoint heard_at_{};

  base::TimePoint resume_at_{};
  base::TimePoint failed_at_{};
  base::TimePoint expired_at_ = base::TimePoint::min();  // Our version, by the server's word.
  std::uint64_t failures_ = 0;
  std::uint64_t lists_ = 0;
  std::uint64_t falls_ = 0;
  std::optional<base::Error> trouble_;
};

}  // namespace kube
