#pragma once

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"

namespace kube {

// What a reconciler answers: when to come back to the same key. It is called again on every change anyway.
class Next {
 public:
  enum class When { on_change, after, put_off, retry, failed };

  static Next on_change() { return {When::on_change, {}}; }
  static Next after(base::Duration delay) { return {When::after, delay}; }
  static Next put_off(base::Duration delay) { return {When::put_off, delay}; }  // It was no pass: failures still count.
  static Next retry() { return {When::retry, {}}; }  // Not done yet: with back-off, as after an error.
  // An error, with its back-off; but something else is due by then, and does not wait for longer.
  static Next failed(base::Error why, base::Duration due) {
    Next out(When::failed, due);
    out.why_ = std::move(why);
    return out;
  }

  When when() const { return when_; }
  base::Duration delay() const { return delay_; }
  const base::Error* why() const { return why_ ? &*why_ : nullptr; }

 private:
  Next(When when, base::Duration delay) : when_(when), delay_(delay) {}

  When when_;
  base::Duration delay_;
  std::optional<base::Error> why_;
};

}  // namespace kube
