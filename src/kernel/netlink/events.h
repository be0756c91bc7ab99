#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/endpoint.h"

namespace kernel {

// A socket that only listens to what changes, in the network namespace where it was opened.
class EventSocket {
 public:
  // Groups as RTNLGRP_* or NFNLGRP_*. `buffer` bytes hold events until they are read; 0 leaves the system's default.
  static base::Result<EventSocket> open(Bus bus, std::span<const int> groups, std::size_t buffer = 0);

  int fd() const { return endpoint_.fd(); }

  // Visits every event that is there and returns how many; does not wait. False when some were lost (ENOBUFS): then
  // anything may have changed.
  struct Drained {
    std::size_t events = 0;
    bool lost = false;
  };
  base::Result<Drained> drain(const std::function<void(const Received&)>& visit = {});

 private:
  explicit EventSocket(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

  Endpoint endpoint_;
};

}  // namespace kernel
