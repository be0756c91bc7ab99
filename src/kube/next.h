#pragma once

#include "base/clock.h"

namespace kube {

// What a reconciler answers: when to come back to the same key. It is called again on every change anyway.
class Next {
 public:
  enum class When { on_change, after, put_off, retry };

  static Next on_change() { return {When::on_change, {}}; }
  static Next after(base::Duration delay) { return {When::after, delay}; }
  static Next put_off(base::Duration delay) { return {When::put_off, delay}; }  // It was no pass: failures still count.
  static Next retry() { return {When::retry, {}}; }  // Not done yet: with back-off, as after an error.

  When when() const { return when_; }
  base::Duration delay() const { return delay_; }

 private:
  Next(When when, base::Duration delay) : when_(when), delay_(delay) {}

  When when_;
  base::Duration delay_;
};

}  // namespace kube
