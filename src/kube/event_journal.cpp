#include "kube/event_journal.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/writer.h"
#include "kube/lease.h"

namespace kube {
namespace {

constexpr auto kBetweenWrites = std::chrono::minutes(1);
constexpr auto kSeriesEnd = std::chrono::minutes(6);
constexpr auto kBetweenTidying = std::chrono::seconds(1);
constexpr std::size_t kMostNote = 1024;  // What the server accepts, in bytes.
constexpr std::size_t kMostName = 200;   // Room for a suffix within 253.

// Never in the middle of a character.
std::string shorten(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  return text;
}

void put_reference(json::Object& out, std::string_view field, const ObjectReference& object) {
  out.object(field, [&](json::Object& reference) {
    reference.put("apiVersion", object.api_version);
    reference.put("kind", object.kind);
    reference.put_unless_empty("namespace", object.ns);
    reference.put("name", object.name);
    reference.put_unless_empty("uid", object.uid);
  });
}

void put_series(json::Object& out, const EventJournal::Write& write) {
  out.object("series", [&](json::Object& series) {
    series.put("count", write.count);
    series.put("lastObservedTime", micro_time(write.last));
  });
}

}  // namespace

void EventJournal::add(Notice notice, base::TimePoint now, WallTime wall) {
  notice.note = shorten(std::move(notice.note), kMostNote);
  Record* const record = find_or_make(notice, now);
  if (record == nullptr) {
    ++dropped_;
    return;
  }
  if (record->unreported == 0) record->first = wall;
  if (record->stored && now >= record->due + kSeriesEnd) record->stored.reset();
  ++record->unreported;
  record->last = wall;
  record->latest = std::move(notice);
}

std::optional<EventJournal::Write> EventJournal::next(base::TimePoint now) {
  const Subject* const subject = first_due();
  if (subject == nullptr) return std::nullopt;
  Record& record = records_.at(*subject);
  if (record.due > now || !rate_.reserve(now, now)) return std::nullopt;
  record.due = now + kBetweenWrites;
  return make_write(record);
}

void EventJournal::wrote(const Write& write) {
  Record* const record = find(write);
  if (record == nullptr) return;
  record->stored = stored_by(write);
  record->tried.reset();
}

void EventJournal::failed(const Write& write, Failure failure) {
  Record* const record = find(write);
  if (record == nullptr) return;
  // Somebody else's name will stay in our way.
  if (failure == Failure::final || (failure == Failure::known && !record->tried)) {
    record->tried.reset();  // What happened then is given up.
    return;
  }
  if (write.create || record->unreported == 0) record->first = write.first;
  record->unreported += write.unreported;
  if (failure == Failure::gone) record->stored.reset();
  if (failure == Failure::known) {
    record->unreported -= record->tried->count;  // What came after the try is a series of it.
    record->stored = std::exchange(record->tried, {});
  } else if (write.create && !record->tried) {
    record->tried = stored_by(write);
  }
}

std::optional<base::TimePoint> EventJournal::next_due(base::TimePoint now) const {
  const Subject* const subject = first_due();
  if (subject == nullptr) return std::nullopt;
  TokenBucket preview = rate_;
  return std::max(records_.at(*subject).due, *preview.reserve(now, base::TimePoint::max()));
}

// Nothing if it was forgotten for the sake of others while the write was under way.
EventJournal::Record* EventJournal::find(const Write& write) {
  const auto found = records_.find({write.what.regarding, write.what.reason});
  return found == records_.end() ? nullptr : &found->second;
}

EventJournal::Record* EventJournal::find_or_make(const Notice& notice, base::TimePoint now) {
  const Subject subject{notice.regarding, notice.reason};
  if (const auto found = records_.find(subject); found != records_.end()) return &found->second;
  if (records_.size() >= kMost && now >= next_tidying_) {
    next_tidying_ = now + kBetweenTidying;  // A flood must not make every add() look at all records.
    std::erase_if(records_, [&](const auto& entry) {
      return entry.second.unreported == 0 && now >= entry.second.due;  // It may be written again anyway.
    });
  }
  if (records_.size() >= kMost) return nullptr;
  Record& fresh = records_[subject];
  fresh.due = now;
  return &fresh;
}

// A scan of a few thousand entries, at most ten times a second.
const EventJournal::Subject* EventJournal::first_due() const {
  const Subject* first = nullptr;
  base::TimePoint due = base::TimePoint::max();
  for (const auto& [subject, record] : records_) {
    if (record.unreported == 0 || record.due >= due) continue;
    first = &subject;
    due = record.due;
  }
  return first;
}

EventJournal::Write EventJournal::make_write(Record& record) {
  const int unreported = std::exchange(record.unreported, 0);
  const Notice& notice = record.latest;
  if (record.stored && record.stored->note == notice.note) {
    return {.event = record.stored->event,
            .create = false,
            .what = notice,
            .count = record.stored->count + unreported,
            .first = record.stored->first,
            .last = record.last,
            .unreported = unreported};
  }
  if (record.tried && record.tried->note != notice.note) record.tried.reset();
  return {.event = record.tried ? record.tried->event : fresh_name(notice),
          .create = true,
          .what = notice,
          .count = unreported,
          .first = record.first,
          .last = record.last,
          .unreported = unreported};
}

Key EventJournal::fresh_name(const Notice& notice) {
  // Events about cluster-scoped objects live in `default`: the server wants it so.
  const std::string ns = notice.regarding.ns.empty() ? "default" : notice.regarding.ns;
  return {ns, fmt::format("{}.{:016x}", shorten(notice.regarding.name, kMostName), next_name_++)};
}

EventJournal::Stored EventJournal::stored_by(const Write& write) {
  return {.event = write.event, .note = write.what.note, .count = write.count, .first = write.first};
}

std::string encode_event(const EventJournal::Write& write, const EventReporter& reporter) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", "events.k8s.io/v1");
    out.put("kind", "Event");
    out.object("metadata", [&](json::Object& metadata) {
      metadata.put("name", write.event.name);
      metadata.put("namespace", write.event.ns);
    });
    put_reference(out, "regarding", write.what.regarding);
    if (write.what.related) put_reference(out, "related", *write.what.related);
    out.put("type", write.what.type == NoticeType::normal ? "Normal" : "Warning");
    out.put("reason", write.what.reason);
    out.put("action", write.what.action);
    out.put("note", write.what.note);
    out.put("reportingController", reporter.controller);
    out.put("reportingInstance", reporter.instance);
    out.put("eventTime", micro_time(write.first));
    if (write.count > 1) put_series(out, write);
  });
}

std::string encode_series(const EventJournal::Write& write) {
  return json::object([&](json::Object& out) { put_series(out, write); });
}

}  // namespace kube
