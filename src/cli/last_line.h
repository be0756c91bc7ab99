#pragma once

#include <string>

namespace cli {

// What a program said last, mostly why it failed.
inline std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace cli
