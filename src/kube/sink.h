#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "json/reader.h"
#include "kube/watch.h"

namespace kube {

// Where the objects of one kind go, told by one thread. Between begin_list() and end_list() objects belong to a list
// that counts only when it is whole; abort_list() forgets it.
class Sink {
 public:
  virtual ~Sink() = default;

  // `versions_hold`: an object that is known, in the version that is known, is still the same. Otherwise the storage
  // may have fallen back (storage.h), and have given that number to something else.
  virtual void begin_list(bool versions_hold) = 0;
  virtual void abort_list() = 0;
  virtual void end_list(std::uint64_t version) = 0;

  // `object`: or why it cannot be read.
  virtual void put(const Identity& identity, const base::Result<json::Value>& object) = 0;
  virtual void remove(const Identity& identity) = 0;
  virtual void reached(std::uint64_t version) = 0;  // Everything up to here has been told.

  virtual void trouble(std::optional<base::Error> error) = 0;  // Why nothing new comes; none: all is well again.
  virtual void settle() = 0;                                   // A batch is over: readers may look.
};

}  // namespace kube
