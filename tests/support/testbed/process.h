#pragma once

#include "lab/process.h"

namespace testbed {

using lab::Command;
using lab::Exit;
using lab::Finished;
using lab::Process;
using lab::run;

}  // namespace testbed
