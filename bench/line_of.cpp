#include "bench/line_of.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 180s;

}  // namespace

base::Result<std::string> line_of(lab::Process& process, std::string_view word) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const std::string said = process.output();
    const auto at = said.find(word);
    if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
      return said.substr(at + word.size(), said.find('\n', at) - at - word.size());
    }
    if (std::chrono::steady_clock::now() > until || !process.running()) {
      return base::fail(base::Fault::timeout, fmt::format("never said \"{}\": {}", word, process.errors()));
    }
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace bench
