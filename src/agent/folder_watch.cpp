#include "agent/folder_watch.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include <fmt/format.h>

namespace agent {
namespace {

// IN_CLOSE_WRITE and not IN_MODIFY: a file being written is looked at when its writer has finished.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_ONLYDIR;

}  // namespace

base::Result<std::unique_ptr<FolderWatch>> FolderWatch::start(const std::filesystem::path& folder,
                                                              runtime::Signal& changed) {
  base::Fd notify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!notify) return base::fail_errno("inotify_init1", errno);
  if (::inotify_add_watch(notify.get(), folder.c_str(), kEvents) < 0) {
    return base::fail_errno(fmt::format("watch folder {}", folder.native()), errno);
  }
  base::Fd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return base::fail_errno("eventfd", errno);
  return std::unique_ptr<FolderWatch>(new FolderWatch(std::move(notify), std::move(wake), changed));
}

FolderWatch::FolderWatch(base::Fd notify, base::Fd wake, runtime::Signal& changed)
    : notify_(std::move(notify)), wake_(std::move(wake)), changed_(changed), thread_([this] { run(); }) {}

FolderWatch::~FolderWatch() {
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void FolderWatch::run() {
  while (true) {
    std::array<pollfd, 2> ready = {pollfd{notify_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    std::array<char, 4096> events;
    bool any = false;
    while (::read(notify_.get(), events.data(), events.size()) > 0) any = true;
    if (any) changed_.raise();
  }
}

}  // namespace agent
