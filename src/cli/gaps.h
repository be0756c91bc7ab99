#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "json/writer.h"

namespace cli {

// What could not be asked stands below what could, and beats every other exit code.
void add_gaps(Answer& answer, const std::vector<std::string>& gaps);
void put_gaps(json::Object& out, const std::vector<std::string>& gaps);

}  // namespace cli
