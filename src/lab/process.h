#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace lab {

struct Command {
  std::vector<std::string> arguments;         // The program first; without a slash it is looked up in PATH.
  std::vector<std::string> environment = {};  // "NAME=value", beside what we have or instead of it.
  std::string input = {};                     // What it reads from standard input.
  std::filesystem::path log = {};             // Where both outputs are appended; none: they are kept in memory.
  int network = -1;                           // Descriptor of the network namespace to run in; -1: the caller's.
};

struct Exit {
  int code = 0;
  int signal = 0;  // Not 0: ended by it, and `code` says nothing.

  bool ok() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

// A program that runs as our child in a process group of its own, started without a shell. It does not outlive us:
// inside the sandbox it ends with the sandbox, elsewhere with the thread that started it. One thread at a time.
class Process {
 public:
  static base::Result<Process> start(const Command& command);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();  // Kills it with everything in its process group, and waits.

  pid_t pid() const { return pid_; }
  bool running();

  // How it ended; a timeout error if it still runs after `bound`.
  base::Result<Exit> wait_exit(base::Duration bound);

  void signal(int number);  // To the whole process group; nothing if it has ended.
  void kill();              // SIGKILL, and waits.

  // What it has written so far; with a log file, all of that file, and errors() is empty.
  std::string output() const;
  std::string errors() const;

 private:
  Process() = default;

  pid_t pid_ = -1;
  bool ended_ = true;
  Exit exit_;
  base::Fd handle_;
  base::Fd output_;
  base::Fd errors_;
};

struct Finished {
  Exit exit;
  std::string output;
  std::string errors;
};

// Starts it, waits for its end, at most `bound`, and returns what it said. How it ended is for the caller to judge. A
// timeout error tells what it had said until it was killed.
base::Result<Finished> run(const Command& command, base::Duration bound);

}  // namespace lab
