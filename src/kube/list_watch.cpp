#include "kube/list_watch.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "kube/page.h"

namespace kube {
namespace {

using base::Fault;
using namespace std::chrono_literals;

constexpr auto kFirstWait = 800ms;
constexpr auto kLongestPause = 30s;
constexpr auto kGoodWhile = 2min;     // Without a failure: the next one counts as the first.
constexpr auto kGrace = 5s;           // The server ends a watch; we only when it does not.
constexpr auto kTooShort = 1s;        // A watch that ends sooner, and silent, has failed.
constexpr auto kAuditAfter = 55min;   // The next renewal after that; so clients do not come together.
constexpr auto kAuditAtLast = 65min;  // By then a watch was renewed, unless something cuts each before its time.

bool is_refusal(const Error& error) {
  return error.status && (error.status->code == 400 || error.status->code == 422);
}

bool is_busy(const Error& error) {
  return error.status && error.status->code == 429;
}

bool is_too_large(const Error& error) {
  return error.status && error.status->has_cause("ResourceVersionTooLarge");
}

// More bytes than whoever carries the answer takes: http::Client, or something between us and the server.
bool is_too_long(const Error& error) {
  constexpr int kContentTooLarge = 413;
  return error.errno_value() == EMSGSIZE || (error.status && error.status->code == kContentTooLarge);
}

}  // namespace

ListWatch::ListWatch(Options options, Sink& sink, std::uint64_t seed)
    : options_(std::move(options)),
      sink_(sink),
      backoff_(kFirstWait, kLongestPause, seed),
      random_(seed),
      page_size_(options_.page_size),
      resume_at_(options_.begin) {}

ListWatch::Step ListWatch::next(base::TimePoint now) {
  if (now < resume_at_) return Pause{resume_at_};
  const std::uint64_t least = consistent_ ? 0 : version_;
  const bool is_first = lists_ == 0;
  if (must_list_ && (listing_ || is_first || page_once_ || now < streams_from_)) {
    if (!listing_) begin_list();
    return List{{.selection = options_.selection,
                 .not_older_than = least,
                 .limit = whole_once_ ? 0 : page_size_,
                 .token = page_token_,
                 .as_message = options_.schema != nullptr}};
  }
  if (!must_list_ && was_cut_) {  // Of this list only the version counts, so one object will do.
    return List{.request = {.selection = options_.selection,
                            .not_older_than = version_,
                            .limit = 1,
                            .token = "",
                            .as_message = options_.schema != nullptr},
                .is_whole = false};
  }
  timeout_ = draw_timeout();
  initial_ = must_list_;
  return Watch{{.selection = options_.selection,
                .from = must_list_ ? least : version_,
                .initial = must_list_,
                .timeout = timeout_,
                .as_message = options_.schema != nullptr}};
}

void ListWatch::list_again() {
  drop_list();
  must_list_ = consistent_ = true;
}

void ListWatch::storage_fell_back() {
  list_again();
  was_told_ = true;
}

void ListWatch::listed(std::string_view body, base::TimePoint now) {
  const auto taken = listing_ ? take_page(body) : take_confirmation(body);
  if (!listing_) reader_ = json::Reader();  // It has grown to the size of a page; single events need less.
  if (!taken) return failed(taken.error(), now);
  sink_.settle();
}

void ListWatch::failed(const Error& error, base::TimePoint now) {
  const bool was_streamed_list = initial_;
  if (listing_ && !was_streamed_list && is_too_long(error) && (whole_once_ || page_size_ > 1)) {
    if (std::exchange(whole_once_, false)) return;
    page_size_ /= 2;  // The same page again, at once.
    return;
  }
  const bool was_within_pages = !page_token_.empty();
  stop_following(now);
  drop_list();
  if (followed_ >= kAuditAtLast) must_list_ = true;
  if (was_streamed_list && is_refusal(error)) {
    streams_from_ = now + kAuditAfter;  // Another server may answer by then, or a later version of this one.
    return;                             // At once: pages will tell what else is wrong.
  }
  if (error.fault() == Fault::expired || is_too_large(error)) {
    const bool first = !consistent_ && now > expired_at_ + kGoodWhile;
    expired_at_ = now;
    must_list_ = consistent_ = true;
    if (first) return;  // The server is well and tells us what to do: do it at once, but not again and again.
    // Pages that come more slowly than the server forgets would be begun for ever.
    if (was_within_pages) whole_once_ = true;
  }
  // What cannot come by a stream may come in pages. A server with too much to do has less of it with a stream.
  if (was_streamed_list && !is_busy(error)) page_once_ = true;
  back_off(error, now);
}

void ListWatch::opened(base::TimePoint now) {
  forget_events();
  spoke_ = false;
  opened_at_ = heard_at_ = now;
  if (initial_) {
    begin_list();
  } else {
    follows_ = true;
    all_is_well();
    sink_.settle();
  }
}

bool ListWatch::heard(std::string_view bytes, base::TimePoint now) {
  heard_at_ = now;
  events_.feed(bytes);
  const auto useful = take_events();
  if (!useful) failed(useful.error(), now);
  sink_.settle();
  return useful.has_value();
}

void ListWatch::ended(base::TimePoint now) {
  forget_events();
  if (initial_) return failed(base::Error(Fault::unavailable, "the stream ended before its list did"), now);
  stop_following(now);
  was_cut_ = now + kGrace < opened_at_ + timeout_;  // A server that is stopped ends its watches in good order, too.
  if (spoke_) {
    if (followed_ >= kAuditAfter) must_list_ = true;
    return;
  }
  // A watch from a version that the server has yet to reach is served in silence; so is a kind where nothing happens,
  // but that gets bookmarks. Silence is worth a look at the list.
  must_list_ = true;
  if (now < opened_at_ + kTooShort) back_off(base::Error(Fault::unavailable, "the watch ended at once"), now);
}

void ListWatch::silent(base::TimePoint now) {
  if (initial_) page_once_ = true;
  must_list_ = true;
  drop_list();
  back_off(base::Error(Fault::timeout, "the stream fell silent"), now);
}

base::TimePoint ListWatch::quiet_until() const {
  return initial_ ? heard_at_ + options_.patience : opened_at_ + timeout_ + kGrace;
}

base::Status ListWatch::take_page(std::string_view body) {
  auto page = TRY(Page::open(body, options_.schema, reader_));
  // One such page refutes the suspicion, whatever becomes of its list.
  if (page.version() >= version_) fell_back_ = false;
  const auto put = [this](const Item& item) -> base::Status {
    sink_.put(item.identity, item.object);
    return {};
  };
  TRY(page.each(put));
  page_token_ = page.next();
  return page_token_.empty() ? finish_list(page.version()) : base::Status();
}

// The server was asked for nothing older than our version; where it has no such thing, it says so (is_too_large) or, as
// some caches do, shows what it has.
base::Status ListWatch::take_confirmation(std::string_view body) {
  const auto page = TRY(Page::open(body, options_.schema, reader_));
  was_cut_ = false;
  if (page.version() < version_) must_list_ = consistent_ = true;
  return {};
}

Result<void> ListWatch::take_events() {
  while (const auto event = TRY(events_.next(reader_))) {
    TRY(take_event(*event));
  }
  return {};
}

Result<void> ListWatch::take_event(const Event& event) {
  spoke_ = true;
  switch (event.type) {
    case Event::Type::error:
      return std::unexpected(error_of(*event.status));
    case Event::Type::bookmark:
      if (initial_ && !event.ends_initial) return {};
      if (initial_) return finish_list(event.identity.version);
      break;
    case Event::Type::added:
    case Event::Type::modified:
      sink_.put(event.identity, event.object);
      break;
    case Event::Type::deleted:
      sink_.remove(event.identity);
      break;
  }
  if (initial_) return {};  // Initial events come in no order: their versions say nothing.
  version_ = std::max(version_, event.identity.version);
  sink_.reached(version_);
  return {};
}

base::Status ListWatch::finish_list(std::uint64_t version) {
  if (version < version_ && !was_told_) {
    const bool believed = consistent_ && fell_back_;
    fell_back_ = consistent_;
    consistent_ = true;
    if (believed) {
      ++falls_;
    } else {
      return base::fail(Fault::unavailable,
                        fmt::format("a list at version {} after version {} was seen", version, version_));
    }
  }
  version_ = version;
  followed_ = base::Duration::zero();
  follows_ = initial_;
  ++lists_;
  must_list_ = consistent_ = fell_back_ = was_told_ = was_cut_ = page_once_ = whole_once_ = listing_ = initial_ = false;
  page_token_.clear();
  sink_.end_list(version);
  all_is_well();
  return {};
}

void ListWatch::begin_list() {
  sink_.begin_list(!consistent_);
  listing_ = true;
}

void ListWatch::drop_list() {
  if (listing_) sink_.abort_list();
  forget_events();
  listing_ = initial_ = follows_ = false;
  page_token_.clear();
}

void ListWatch::stop_following(base::TimePoint now) {
  if (std::exchange(follows_, false)) followed_ += now - opened_at_;
}

// Half an object may be all that has come, and a long pause lie ahead. Moved out, as its buffer would outlive an
// assignment: an empty string leaves the one that it is given to its room.
void ListWatch::forget_events() {
  (void)std::exchange(events_, EventReader(options_.schema));
}

void ListWatch::back_off(const Error& error, base::TimePoint now) {
  if (now > failed_at_ + kGoodWhile) backoff_.reset();
  failed_at_ = now;
  was_cut_ = true;
  const auto asked = error.status && error.status->retry_after ? *error.status->retry_after : 0s;
  resume_at_ = now + asked + backoff_.next();
  ++failures_;
  sink_.trouble(trouble_ = error);
  sink_.settle();
}

void ListWatch::all_is_well() {
  trouble_.reset();
  sink_.trouble({});
}

std::chrono::seconds ListWatch::draw_timeout() {
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  const auto least = options_.watch_time;
  return least + std::chrono::seconds((random_ >> 33U) % static_cast<std::uint64_t>(least.count() + 1));
}

}  // namespace kube
