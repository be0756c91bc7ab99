#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec.h"
#include "base/nearest_word.h"
#include "base/result.h"
#include "json/reader.h"

// An API server drops fields that a schema does not have, and kubectl tells. Where a file is read without either, a
// mistyped field must not be taken for one that is not there.
namespace api {

template <Described T>
base::Status refuse_unknown(const json::Value& value);

class UnknownFields {
 public:
  explicit UnknownFields(const json::Value& value) : value_(value) {}

  template <typename T>
  void operator()(std::string_view key, T& field) {
    names_.emplace_back(key);
    if (status_ && value_[key].exists()) status_ = look_into(value_[key], field);
  }
  template <typename T>
  void operator()(std::string_view key, Fitting<T> field) {
    (*this)(key, field.number);
  }
  template <typename T>
  void required(std::string_view key, T&& field) {
    (*this)(key, std::forward<T>(field));
  }
  template <typename T>
  void always(std::string_view key, T& field) {
    (*this)(key, field);
  }

  base::Status status() && {
    if (!status_) return status_;
    const auto members = TRY(value_.members_or_none());
    for (const json::Member& member : members) {
      if (std::ranges::find(names_, member.key) != names_.end()) continue;
      const std::string nearest = base::nearest_word(member.key, names_);
      return member.value.fail(nearest.empty() ? fmt::format("unknown field; known are {}", fmt::join(names_, ", "))
                                               : fmt::format("unknown field; did you mean {}?", nearest));
    }
    return {};
  }

 private:
  template <typename T>
  static base::Status look_into(const json::Value& value, T&) {
    if constexpr (Described<T>) return refuse_unknown<T>(value);
    return {};
  }
  template <typename T>
  static base::Status look_into(const json::Value& value, std::optional<T>&) {
    if constexpr (Described<T>) return refuse_unknown<T>(value);
    return {};
  }
  template <typename T>
  static base::Status look_into(const json::Value& value, std::vector<T>&) {
    if constexpr (Described<T>) {
      const auto items = TRY(value.items());
      for (const json::Value& item : items) TRY(refuse_unknown<T>(item));
    }
    return {};
  }

  json::Value value_;
  std::vector<std::string> names_;
  base::Status status_;
};

// An error names the first field that T does not have: "spec.tabel: unknown field; did you mean table?"
template <Described T>
base::Status refuse_unknown(const json::Value& value) {
  T shape;
  UnknownFields fields(value);
  T::fields(shape, fields);
  return std::move(fields).status();
}

}  // namespace api
