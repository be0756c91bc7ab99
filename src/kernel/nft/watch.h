#pragma once

#include <cstdint>
#include <set>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/events.h"

namespace kernel::nft {

// Whether the notification speaks of our table or of something in it.
bool is_about_our_table(const Received& event);

// Tells when somebody else touches our table: a `flush ruleset` takes it along. Watches the network namespace in which
// it was opened. One thread at a time.
class Watch {
 public:
  static base::Result<Watch> open();

  int fd() const { return events_.fd(); }  // Readable when something changed.

  // Whether anybody but this process changed our table since the last call. Does not wait. Lost events count as a
  // change.
  base::Result<bool> foreign_change();

 private:
  explicit Watch(EventSocket events) : events_(std::move(events)) {}

  bool is_own(std::uint32_t port);

  EventSocket events_;
  std::set<std::uint32_t> own_ports_;
};

}  // namespace kernel::nft
