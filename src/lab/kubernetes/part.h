#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "lab/process.h"

namespace lab {

// One program of a cluster, which one may kill, freeze and start again just as it was. Its log goes on in one file.
class Part {
 public:
  // `ready` is asked again and again after a start until it says yes.
  Part(std::string name, Command command, std::function<bool()> ready)
      : name_(std::move(name)), command_(std::move(command)), ready_(std::move(ready)) {}

  base::Status start();       // Begins; does not wait.
  base::Status wait_ready();  // An error with the log's end if it has ended or takes too long.
  base::Status restart();     // Kills it, starts it, waits until it is ready.

  // In good order, by SIGTERM: it finishes what was asked and sends its clients away. That may hang for minutes, so
  // when it takes too long it is killed, and that is an error.
  base::Status stop();
  void kill();    // By SIGKILL.
  void freeze();  // As a machine that swaps or a hypervisor that pauses: connections stay, nothing answers.
  void thaw();
  bool running() { return process_ && process_->running(); }

  const std::string& name() const { return name_; }
  std::string log_tail() const;

 private:
  std::string name_;
  Command command_;
  std::function<bool()> ready_;
  std::optional<Process> process_;
};

}  // namespace lab
