#include "kube/credentials.h"

#include "base/file.h"

namespace kube {

void FileWatch::add(std::filesystem::path file) {
  if (file.empty()) return;
  Seen& seen = files_.emplace_back();
  seen.file = std::move(file);
  (void)look(seen);  // The first look is what later ones are compared with.
}

bool FileWatch::changed() {
  bool any = false;
  for (Seen& seen : files_) any = look(seen) || any;
  return any;
}

bool FileWatch::look(Seen& seen) {
  struct stat now{};
  if (::stat(seen.file.c_str(), &now) != 0) return false;  // In the middle of being replaced: ask again later.
  const bool same = now.st_ino == seen.inode && now.st_size == seen.size &&
                    now.st_mtim.tv_sec == seen.modified.tv_sec && now.st_mtim.tv_nsec == seen.modified.tv_nsec;
  seen.inode = now.st_ino;
  seen.size = now.st_size;
  seen.modified = now.st_mtim;
  return !same;
}

Token::Token(std::string fixed, std::filesystem::path file) : file_(std::move(file)), text_(std::move(fixed)) {
  watch_.add(file_);
  read();
}

std::string Token::current() {
  const std::lock_guard lock(mutex_);
  if (watch_.changed()) read();
  return text_;
}

bool Token::renew(const std::string& refused) {
  const std::lock_guard lock(mutex_);
  (void)watch_.changed();
  read();
  return !text_.empty() && text_ != refused;
}

void Token::read() {
  if (file_.empty()) return;
  auto text = base::read_file(file_, 64U << 10U);
  if (!text) return;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' ')) text->pop_back();
  if (!text->empty()) text_ = *std::move(text);
}

}  // namespace kube
