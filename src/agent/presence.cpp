#include "agent/presence.h"

#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace agent {
namespace {

// The whole file. Only a lock for writing counts: it needs a file opened for writing, so nobody who may only read the
// folder can pretend.
flock whole_file(short type) {
  flock out{};
  out.l_type = type;
  out.l_whence = SEEK_SET;
  return out;
}

}  // namespace

base::Result<Presence> Presence::announce(const std::filesystem::path& folder) {
  const auto path = folder / kPresenceFile;
  base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return base::fail_errno("open " + path.native(), errno);
  flock lock = whole_file(F_WRLCK);
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return Presence(std::move(file));
  if (errno == EAGAIN || errno == EACCES) {
    return base::fail(base::Fault::conflict, path.native() + ": another agent is announced there");
  }
  return base::fail_errno("lock " + path.native(), errno);
}

base::Result<bool> is_announced(const std::filesystem::path& folder) {
  const auto path = folder / kPresenceFile;
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return false;
  if (!file) return base::fail_errno("open " + path.native(), errno);
  flock lock = whole_file(F_RDLCK);
  if (::fcntl(file.get(), F_OFD_GETLK, &lock) != 0)
    return base::fail_errno("ask for the lock of " + path.native(), errno);
  return lock.l_type == F_WRLCK;
}

}  // namespace agent
