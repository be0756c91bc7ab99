#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/fitting.h"
#include "api/int_or_string.h"
#include "api/quantities.h"
#include "base/result.h"
#include "json/reader.h"
#include "json/writer.h"
#include "meta/condition.h"
#include "meta/labels.h"
#include "meta/time.h"

// How the kinds of this folder become JSON and back. A type describes itself once:
//
//   template <typename Self, typename Visitor>
//   static void fields(Self& self, Visitor& visit) {
//     visit.required("table", self.table);
//     visit("priority", self.priority);
//   }
//
// and both directions follow from that, so they cannot drift apart. An enum names its words in `names(Enum)`, in the
// order of its enumerators. What is absent keeps the member's default; what has its default is not written, unless it
// is `required` (an error where it is absent) or written `always` (a count of 0 is worth saying).
namespace api {

class Decoder;
class Encoder;

template <typename T>
concept Described = requires(T& value, Decoder& decoder) { T::fields(value, decoder); };
template <typename T>
concept Named = std::is_enum_v<T> && requires(T value) { names(value); };

class Decoder {
 public:
  explicit Decoder(json::Value value) : value_(value) {}

  template <typename T>
  void operator()(std::string_view key, T& field) {
    const json::Value value = value_[key];
    if (status_) status_ = read_optional(value, field);
  }
  template <typename T>
  void required(std::string_view key, T& field) {
    if (status_) status_ = read(value_[key], field);
  }
  template <typename T>
  void always(std::string_view key, T& field) {
    (*this)(key, field);
  }
  template <typename T>
  void required(std::string_view key, Fitting<T> field) {
    if (status_) status_ = read(value_[key], field);
  }
  template <typename T>
  void operator()(std::string_view key, Fitting<T> field) {
    if (status_ && value_[key].exists()) status_ = read(value_[key], field);
  }
  base::Status status() && { return std::move(status_); }

 private:
  template <typename T>
  static base::Status read_optional(const json::Value& value, T& field) {
    if constexpr (std::same_as<T, std::string>) {
      field = TRY(value.string_or(field));
    } else if constexpr (std::same_as<T, bool>) {
      field = TRY(value.boolean_or(field));
    } else if constexpr (std::integral<T>) {
      field = TRY(value.integer_or(field));
    } else if (value.exists()) {
      return read(value, field);
    } else {
      TRY(value.members_or_none());  // Absent; or in a place that is no object, which is an error.
    }
    return {};
  }

  static base::Status read(const json::Value& value, std::string& field) {
    field = TRY(value.string());
    return {};
  }
  static base::Status read(const json::Value& value, bool& field) {
    field = TRY(value.boolean());
    return {};
  }
  template <std::integral T>
  static base::Status read(const json::Value& value, T& field) {
    field = TRY(value.integer<T>());
    return {};
  }
  template <std::integral T>
  static base::Status read(const json::Value& value, Fitting<T> field) {
    const auto any = TRY(value.integer<std::int64_t>());
    field.number = std::in_range<T>(any) ? static_cast<T>(any) : field.otherwise;
    return {};
  }
  static base::Status read(const json::Value& value, meta::Labels& field) {
    field = TRY(meta::Labels::decode(value));
    return {};
  }
  static base::Status read(const json::Value& value, meta::Condition& field) {
    field = TRY(meta::Condition::decode(value));
    return {};
  }
  static base::Status read(const json::Value& value, meta::Time& field) {
    const auto time = meta::parse_time(TRY(value.string()));
    if (!time) return value.fail(time.error().message());
    field = *time;
    return {};
  }
  static base::Status read(const json::Value& value, Quantities& field) {
    for (const json::Member& member : TRY(value.members())) {
      const auto text = member.value.string();
      field.amounts.set(member.key, text ? std::string(*text) : member.value.text());
    }
    return {};
  }
  static base::Status read(const json::Value& value, IntOrString& field) {
    const auto text = value.string();
    field.text = text ? std::string(*text) : std::to_string(TRY(value.integer<std::int64_t>()));
    return {};
  }
  template <Named T>
  static base::Status read(const json::Value& value, T& field) {
    constexpr auto kNames = names(T());
    const std::string_view text = TRY(value.string());
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] != text) continue;
      field = static_cast<T>(i);
      return {};
    }
    return value.fail(fmt::format("\"{}\" is none of {}", text, fmt::join(kNames, ", ")));
  }
  template <Described T>
  static base::Status read(const json::Value& value, T& field) {
    TRY(value.members());
    Decoder inner(value);
    T::fields(field, inner);
    return std::move(inner).status();
  }
  template <typename T>
  static base::Status read(const json::Value& value, std::optional<T>& field) {
    return read(value, field.emplace());
  }
  template <typename T>
  static base::Status read(const json::Value& value, std::vector<T>& field) {
    const auto items = TRY(value.items());
    field.clear();
    field.reserve(items.size());
    for (const json::Value& item : items) TRY(read(item, field.emplace_back()));
    return {};
  }

  json::Value value_;
  base::Status status_;
};

class Encoder {
 public:
  explicit Encoder(json::Object& out) : out_(out) {}

  template <typename T>
  void operator()(std::string_view key, const T& field) {
    if (field != T()) write(key, field);
  }
  template <typename T>
  void required(std::string_view key, const T& field) {
    write(key, field);
  }
  template <typename T>
  void always(std::string_view key, const T& field) {
    write(key, field);
  }
  template <typename T>
  void required(std::string_view key, Fitting<T> field) {
    write(key, field.number);
  }
  template <typename T>
  void operator()(std::string_view key, Fitting<T> field) {
    (*this)(key, field.number);
  }

 private:
  void write(std::string_view key, const std::string& field) { out_.put(key, field); }
  void write(std::string_view key, bool field) { out_.put(key, field); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void write(std::string_view key, T field) {
    out_.put(key, field);
  }
  template <Named T>
  void write(std::string_view key, T field) {
    out_.put(key, name_of(field));
  }
  void write(std::string_view key, const meta::Time& field) { out_.put(key, meta::format_time(field)); }
  void write(std::string_view key, const IntOrString& field) {
    const bool is_number = !field.text.empty() && field.text.find_first_not_of("0123456789") == std::string::npos;
    is_number ? out_.put_json(key, field.text) : out_.put(key, field.text);
  }
  void write(std::string_view key, const Quantities& field) { write(key, field.amounts); }
  void write(std::string_view key, const meta::Labels& field) {
    out_.object(key, [&](json::Object& entries) { field.encode(entries); });
  }
  template <Described T>
  void write(std::string_view key, const T& field) {
    out_.object(key, [&](json::Object& inner) { describe(inner, field); });
  }
  template <typename T>
  void write(std::string_view key, const std::optional<T>& field) {
    if (field) write(key, *field);
  }
  template <typename T>
  void write(std::string_view key, const std::vector<T>& field) {
    out_.array(key, [&](json::Array& list) {
      for (const T& item : field) add(list, item);
    });
  }

  template <typename T>
  static void add(json::Array& list, const T& item) {
    if constexpr (Named<T>) {
      list.put(name_of(item));
    } else if constexpr (Described<T>) {
      list.object([&](json::Object& inner) { describe(inner, item); });
    } else if constexpr (std::same_as<T, meta::Condition>) {
      list.object([&](json::Object& inner) { item.encode(inner); });
    } else {
      list.put(item);
    }
  }
  template <Described T>
  static void describe(json::Object& out, const T& value) {
    Encoder inner(out);
    T::fields(value, inner);
  }
  template <Named T>
  static std::string_view name_of(T value) {
    constexpr auto kNames = names(T());
    return kNames[static_cast<std::size_t>(value)];
  }

  json::Object& out_;
};

}  // namespace api
