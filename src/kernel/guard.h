#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/message.h"

namespace kernel {

// A second process, tiny and idle, that holds the way back while a risky change is tried. If the change is not
// confirmed in time, or the program dies first (also by SIGKILL), the guard sends the inverse messages. They are on
// disk before the change begins, so when both processes are killed, undo_left_over() does it at the next start.
//
//   auto guard = TRY(Guard::start(folder));       // First thing in main: forks, and the program goes on in the child.
//   TRY(undo_left_over(folder));
//   ...
//   TRY(guard.arm(inverse, 10s));                 // Before the first message of the change.
//   apply; probe;
//   TRY(guard.confirm());                         // Or let it run out.
//
// One change at a time, used by one thread.
class Guard {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // Forks without exec. It returns in the child; the calling process becomes the guard, passes on the signals that ask
  // to stop, and ends as the child ends. Call before any thread is started. The child is asked to stop should the guard
  // die. `folder` must exist and should be memory-backed.
  static base::Result<Guard> start(const std::filesystem::path& folder);

  // From now on `inverse` is sent, in order, unless confirm() comes within `window`. Each arm() is followed by one
  // confirm() or undo(), however it went: Fault::conflict before that.
  base::Status arm(std::span<const Message> inverse, Milliseconds window);
  // The change stays. Fault::conflict if it was too late: then it has been undone.
  base::Status confirm();
  // The change goes, now.
  base::Status undo();

 private:
  Guard(std::filesystem::path folder, base::Fd channel) : folder_(std::move(folder)), channel_(std::move(channel)) {}

  base::Status ask(char verb, Milliseconds window = {});

  std::filesystem::path folder_;
  base::Fd channel_;
  bool armed_ = false;
};

// Sends what a guard that was killed has left behind, and forgets it. True if there was something. An error means that
// the file is damaged or a message was refused for another reason than being done already; the file stays then.
base::Result<bool> undo_left_over(const std::filesystem::path& folder);

}  // namespace kernel
