#include "cli/progress.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/page.h"

namespace cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMoment{500};
constexpr std::size_t kBar = 20;
constexpr std::size_t kUsualWidth = 80;

std::size_t width_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

void put(int descriptor, std::string_view text) {
  (void)!::write(descriptor, text.data(), text.size());  // Nobody can see what cannot be shown.
}

}  // namespace

bool Progress::is_possible(int descriptor) {
  const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody changes it.
  return ::isatty(descriptor) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
}

Progress::Progress(int descriptor) : descriptor_(descriptor), is_terminal_(is_possible(descriptor)) {}

void Progress::step(std::string_view what, std::size_t done, std::size_t total) {
  if (!is_terminal_ || steady_clock::now() - begun_ < kMoment) return;
  // The last column stays free: some terminals wrap as soon as it is filled.
  put(descriptor_, "\r" + progress_line(what, done, total, width_of(descriptor_) - 1) + "\x1b[K");
  visible_ = true;
}

void Progress::clear() {
  if (visible_) put(descriptor_, "\r\x1b[K");
  visible_ = false;
}

std::string progress_line(std::string_view what, std::size_t done, std::size_t total, std::size_t columns) {
  const std::size_t filled = total == 0 ? 0 : std::min(kBar, done * kBar / total);
  const std::string line = total == 0 ? fmt::format("{} {}", printable(what), done)
                                      : fmt::format("[{}{}] {} {}/{}", std::string(filled, '#'),
                                                    std::string(kBar - filled, '-'), printable(what), done, total);
  return line.size() <= columns ? line : line.substr(0, columns);  // Our own words: one byte is one column.
}

}  // namespace cli
