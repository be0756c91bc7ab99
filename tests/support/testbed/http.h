#pragma once

#include "lab/kubernetes/ask.h"

namespace testbed {

using lab::Answer;
using lab::ask;
using lab::Endpoint;

}  // namespace testbed
