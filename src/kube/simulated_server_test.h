#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kube {

struct Stored {
  std::string uid;
  std::uint64_t version = 0;
  std::string value;
  auto operator<=>(const Stored&) const = default;
};
using StoredObjects = std::map<std::string, Stored>;

// One kind in the storage of an API server, as tests on the real one have shown it.
class SimulatedServer {
 public:
  struct Change {
    std::string type;
    std::string name;
    Stored object;
  };

  void put(const std::string& name, const std::string& value) {
    auto [entry, fresh] = objects.try_emplace(name);
    if (fresh) entry->second.uid = fmt::format("uid-{}", ++uids_);
    entry->second.version = ++version;
    entry->second.value = value;
    ever.insert(*entry);
    history.push_back({fresh ? "ADDED" : "MODIFIED", name, entry->second});
    past.push_back({version, objects});
  }

  void remove(const std::string& name) {
    const auto found = objects.find(name);
    if (found == objects.end()) return;
    Stored last = found->second;
    last.version = ++version;
    objects.erase(found);
    history.push_back({"DELETED", name, last});
    past.push_back({version, objects});
  }

  void compact() {
    oldest = version;
    past.erase(past.begin(), past.end() - std::min<std::ptrdiff_t>(1, std::ssize(past)));
    pages.clear();
  }

  // The storage is restored from an old backup: versions fall.
  void restore_backup() {
    if (past.empty()) return;
    version = past.front().first;
    objects = past.front().second;
    std::erase_if(history, [&](const Change& change) { return change.object.version > version; });
    past.resize(1);
    pages.clear();
    ++resets;
  }

  // What is left of a list, under the token that asks for it.
  std::string keep_page(const std::pair<std::uint64_t, StoredObjects>& rest) {
    std::string token = fmt::format("t{}", ++tokens_);
    pages[token] = rest;
    return token;
  }

  std::uint64_t version = 1;
  std::uint64_t oldest = 0;  // Watches from before this one are gone.
  bool streams = true;
  int resets = 0;
  StoredObjects objects;
  std::set<std::pair<std::string, Stored>> ever;  // Each object as it once was.
  std::vector<Change> history;
  std::vector<std::pair<std::uint64_t, StoredObjects>> past;
  std::map<std::string, std::pair<std::uint64_t, StoredObjects>> pages;

 private:
  int uids_ = 0;
  int tokens_ = 0;
};

}  // namespace kube
