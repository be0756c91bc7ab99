#pragma once

#include "lab/temp_folder.h"

namespace testbed {

using lab::TempFolder;

}  // namespace testbed
