#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace lab {

// Moves the program into a private world: network, mount, process, IPC and host-name namespaces of its own, a fresh
// /proc, an empty /run (where named network namespaces, sockets and temporary files live; TMPDIR points into it) and
// nothing but loopback to talk over. Whatever happens inside is gone when the program ends, also by SIGKILL, and
// nothing is ever made in the machine's own namespaces.
//
// Call it first thing in main, before any thread. Three processes result: the caller, which waits and ends with the
// payload's exit code or signal; an init, which reaps; and the payload, for which alone the call returns success.
// Termination signals reach the payload.
//
// Needs root or unprivileged user namespaces. An error is returned in the calling process, which is as it was.
base::Status enter_sandbox(char** argv);

// Whether this process is a sandbox's payload.
bool in_sandbox();

// For the payload: the process that called, as those outside know it. Its only child is the sandbox's init, whose
// namespaces are the sandbox. 0 outside.
pid_t sandbox_caller();

}  // namespace lab
