#pragma once

#include <cstdint>
#include <thread>

#include "kube/client.h"
#include "kube/event_journal.h"
#include "runtime/guarded.h"

namespace kube {

EventJournal::Failure failure_of(const Error& error, const EventJournal::Write& write);

// Writes Events (events.k8s.io/v1) from a thread of its own, at the pace of an EventJournal. record() takes no longer
// than a look into memory, whatever the server does; what is not written when this ends is lost. Usable from any
// thread; the client must outlive it.
class Events {
 public:
  Events(Client& client, EventReporter reporter);

  void record(Notice notice);
  std::uint64_t dropped() const;

 private:
  void run(std::stop_token stop);
  void send(const EventJournal::Write& write, std::stop_token stop);

  Client& client_;
  const EventReporter reporter_;
  runtime::Guarded<EventJournal> journal_;
  std::jthread thread_;
};

}  // namespace kube
