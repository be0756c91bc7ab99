#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "kube/rate_limit.h"
#include "kube/resource.h"

namespace kube {

struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;

  auto operator<=>(const ObjectReference&) const = default;
};

enum class NoticeType { normal, warning };

// Something people should know about an object.
struct Notice {
  ObjectReference regarding;
  std::optional<ObjectReference> related = {};  // What else it concerns: the Node where it happened.
  NoticeType type = NoticeType::normal;
  std::string reason;  // "RuleProgrammed"
  std::string action;  // What we were doing, in one word: "Reconcile".
  std::string note;
};

// Which events to write, when. Pure; the caller brings both clocks.
//  - Of one (object, reason) at most one write a minute. What happens meanwhile is counted, and the last note wins.
//  - One whose answer was lost is tried again under its name, so the server never has it twice.
//  - The same note again is a series of the Event that is stored; another note, or the same after six minutes of
//    silence, is a new Event.
//  - All together keep to an overall rate. At most `kMost` (object, reason) pairs are remembered; beyond that
//    events are dropped and counted.
class EventJournal {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  static constexpr std::size_t kMost = 4096;

  struct Write {
    Key event;    // Name space and name of the Event.
    bool create;  // Else it is there, and only its series grows.
    Notice what;
    int count;  // How often it has happened in all.
    WallTime first;
    WallTime last;
    int unreported;  // How many of them this write tells first.
  };

  explicit EventJournal(std::uint64_t name_seed) : next_name_(name_seed) {}

  void add(Notice notice, base::TimePoint now, WallTime wall);

  // The next write, if one is due; then exactly one of the two.
  std::optional<Write> next(base::TimePoint now);
  void wrote(const Write& write);
  enum class Failure {
    passing,  // The server is away, or its answer was lost.
    known,    // It has an Event of this name: an answer was lost before.
    gone,     // The stored Event is.
    final,    // It will never accept it.
  };
  void failed(const Write& write, Failure failure);

  std::optional<base::TimePoint> next_due(base::TimePoint now) const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Subject = std::pair<ObjectReference, std::string>;  // And the reason.
  struct Stored {
    Key event;
    std::string note;
    int count = 0;
    WallTime first;
  };
  struct Record {
    Notice latest;
    int unreported = 0;
    WallTime first;
    WallTime last;
    base::TimePoint due;  // No write before.
    std::optional<Stored> stored;
    std::optional<Stored> tried;  // Whether it is stored, nobody has said.
  };

  Record* find_or_make(const Notice& notice, base::TimePoint now);
  const Subject* first_due() const;
  Record* find(const Write& write);
  Write make_write(Record& record);
  Key fresh_name(const Notice& notice);
  static Stored stored_by(const Write& write);

  std::uint64_t next_name_;
  std::uint64_t dropped_ = 0;
  TokenBucket rate_{{.rate = 10, .burst = 50}};
  std::map<Subject, Record> records_;
  base::TimePoint next_tidying_ = base::TimePoint::min();
};

// Bodies for the API server; `reporter` is the controller's name and the instance that speaks.
struct EventReporter {
  std::string controller;
  std::string instance;
};
std::string encode_event(const EventJournal::Write& write, const EventReporter& reporter);
std::string encode_series(const EventJournal::Write& write);

}  // namespace kube
