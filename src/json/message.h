#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

// Protocol buffers, which an API server writes for less than the price of JSON. A schema says which fields of a message
// anybody asks for, and by which names; under it, Reader::parse() makes of a message the same Value as of the JSON of
// the same object. So a kind has one decoder, whichever way it came.
namespace json {

class Schema;

// A field of a message, and what stands for it in JSON. Made by the functions below.
struct Field {
  enum class Shape : std::uint8_t { text, number, flag, message, map, words };
  using Words = base::Result<std::string> (*)(std::string_view message);

  std::uint32_t number = 0;
  std::string_view name = {};
  Shape shape = Shape::text;
  bool is_list = false;
  const Schema* of = nullptr;  // Of a message.
  Words words = nullptr;
};

// What is not in it is passed over, and is never looked at.
class Schema {
 public:
  constexpr Schema(std::initializer_list<Field> fields) {
    for (const Field& field : fields) add(field);
  }
  // All of `base`, and more.
  constexpr Schema(const Schema& base, std::initializer_list<Field> more) : Schema(base) {
    for (const Field& field : more) add(field);
  }

  // `near`: where the last one was, or ended. A server writes them in the order of their numbers, as they stand here:
  // so whoever goes through a message goes once through the schema.
  constexpr const Field* find(std::uint32_t number, std::size_t& near) const {
    if (near > 0 && fields_[near - 1].number >= number) near = 0;
    while (near < size_ && fields_[near].number < number) ++near;
    return near < size_ && fields_[near].number == number ? &fields_[near] : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 12;

  // A schema is a constant: what is out of order does not compile.
  constexpr void add(const Field& field) {
    if (size_ == kMost || field.number <= (size_ == 0 ? 0 : fields_[size_ - 1].number)) std::abort();
    fields_[size_++] = field;
  }

  std::array<Field, kMost> fields_;
  std::size_t size_ = 0;
};

// An empty text is absent, as JSON leaves it out. A text that is no UTF-8 has '?' for what is not ASCII: a message may
// hold such a thing, and one object's must not make a list of thousands unreadable.
namespace field {

constexpr Field text(std::uint32_t number, std::string_view name) {
  return {.number = number, .name = name};
}
constexpr Field texts(std::uint32_t number, std::string_view name) {
  return {.number = number, .name = name, .is_list = true};
}
constexpr Field number(std::uint32_t number, std::string_view name) {
  return {.number = number, .name = name, .shape = Field::Shape::number};
}
constexpr Field flag(std::uint32_t number, std::string_view name) {
  return {.number = number, .name = name, .shape = Field::Shape::flag};
}
constexpr Field message(std::uint32_t number, std::string_view name, const Schema& of) {
  return {.number = number, .name = name, .shape = Field::Shape::message, .of = &of};
}
constexpr Field messages(std::uint32_t number, std::string_view name, const Schema& of) {
  return {.number = number, .name = name, .shape = Field::Shape::message, .is_list = true, .of = &of};
}
// Of texts by texts.
constexpr Field map(std::uint32_t number, std::string_view name) {
  return {.number = number, .name = name, .shape = Field::Shape::map};
}
// A message that is a text in JSON, as a time is; `in_words` gives it, empty for none.
constexpr Field words(std::uint32_t number, std::string_view name, Field::Words in_words) {
  return {.number = number, .name = name, .shape = Field::Shape::words, .words = in_words};
}

}  // namespace field

// The fields of a message one after the other, as they were written:
//
//   while (fields.next()) ...
//   if (fields.broken()) ...
class MessageFields {
 public:
  explicit MessageFields(std::string_view message) : rest_(message) {}

  bool next();                                // False at the end, and where what follows is no field.
  bool broken() const { return is_broken_; }  // It was not the end.

  std::uint32_t number() const { return number_; }
  bool has_bytes() const { return type_ == Type::bytes; }  // A text or a message.
  bool has_value() const { return type_ == Type::value; }  // A number or a flag. There are others, which nobody reads.
  std::string_view bytes() const { return bytes_; }
  std::uint64_t value() const { return value_; }

 private:
  enum class Type : std::uint8_t { value, bytes, other };

  bool read_varint(std::uint64_t& out) {
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) >= 0x80U) return read_long_varint(out);
    out = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return true;
  }
  bool read_long_varint(std::uint64_t& out);
  bool take(std::uint64_t size);
  bool fail();

  std::string_view rest_;
  std::uint32_t number_ = 0;
  Type type_ = Type::other;
  bool is_broken_ = false;
  std::string_view bytes_;
  std::uint64_t value_ = 0;
};

// The bytes of the first such field; empty where there is none.
std::string_view bytes_of(std::string_view message, std::uint32_t number);

}  // namespace json
