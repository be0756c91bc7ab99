#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_string.h"

namespace json {

class Array;

// The members of an object being written: what opens is closed by construction.
//
//   const std::string patch = json::object([&](json::Object& out) {
//     out.object("status", [&](json::Object& status) { status.put("epoch", epoch); });
//   });
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { out_ += '}'; }

  void put(std::string_view key, std::string_view value) { base::append_json_string(at(key), value); }
  void put(std::string_view key, const char* value) { put(key, std::string_view(value)); }
  void put(std::string_view key, const std::string& value) { put(key, std::string_view(value)); }
  template <std::same_as<bool> Bool>
  void put(std::string_view key, Bool value) {
    at(key) += value ? "true" : "false";
  }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void put(std::string_view key, Number value) {
    at(key) += std::to_string(value);
  }
  void put_null(std::string_view key) { at(key) += "null"; }
  void put_json(std::string_view key, std::string_view json) { at(key) += json; }  // Already JSON: inserted as it is.

  // Left out where it says nothing: an empty string, false, zero (what Go's types call omitempty).
  template <typename T>
  void put_unless_empty(std::string_view key, const T& value) {
    if (value != T()) put(key, value);
  }

  template <std::invocable<Object&> Fill>
  void object(std::string_view key, Fill&& fill) {
    Object inner(at(key));
    std::forward<Fill>(fill)(inner);
  }
  template <std::invocable<Array&> Fill>
  void array(std::string_view key, Fill&& fill);

 private:
  std::string& at(std::string_view key);

  std::string& out_;
  bool first_ = true;
};

class Array {
 public:
  explicit Array(std::string& out) : out_(out) { out_ += '['; }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { out_ += ']'; }

  void put(std::string_view value) { base::append_json_string(next(), value); }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void put(Number value) {
    next() += std::to_string(value);
  }
  void put_json(std::string_view json) { next() += json; }

  template <std::invocable<Object&> Fill>
  void object(Fill&& fill) {
    Object inner(next());
    std::forward<Fill>(fill)(inner);
  }

 private:
  std::string& next();

  std::string& out_;
  bool first_ = true;
};

template <std::invocable<Array&> Fill>
void Object::array(std::string_view key, Fill&& fill) {
  Array inner(at(key));
  std::forward<Fill>(fill)(inner);
}

template <std::invocable<Object&> Fill>
std::string object(Fill&& fill) {
  std::string out;
  {
    Object root(out);
    std::forward<Fill>(fill)(root);
  }
  return out;
}

template <std::invocable<Array&> Fill>
std::string array(Fill&& fill) {
  std::string out;
  {
    Array root(out);
    std::forward<Fill>(fill)(root);
  }
  return out;
}

}  // namespace json
