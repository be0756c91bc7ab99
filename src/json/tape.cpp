#include "json/tape.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

namespace json {
namespace {

using base::fail;
using base::Fault;

constexpr unsigned kTypeShift = 56;
constexpr unsigned kCountShift = 32;
constexpr std::uint64_t kMostCounted = 0xff'ffff;
constexpr std::size_t kFirstRoom = 1024;
// Bytes: what one large message has grown is given back before a small one.
constexpr std::size_t kKeptRoom = 1U << 20U;

std::unexpected<base::Error> malformed(std::string_view what) {
  return fail(Fault::invalid, fmt::format("{}: not a valid message", what));
}

template <typename T>
void make_room(std::unique_ptr<T[]>& buffer, std::size_t& room, std::size_t used, std::size_t wanted) {
  if (wanted <= room) [[likely]] {
    return;
  }
  room = std::max({wanted, 2 * room, kFirstRoom});
  auto larger = std::make_unique_for_overwrite<T[]>(room);
  if (used > 0) std::memcpy(larger.get(), buffer.get(), used * sizeof(T));
  buffer = std::move(larger);
}

bool is_ascii(std::string_view text) {
  std::uint64_t seen = 0;
  for (; text.size() >= sizeof seen; text.remove_prefix(sizeof seen)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof eight);
    seen |= eight;
  }
  for (const char c : text) seen |= static_cast<unsigned char>(c);
  return (seen & 0x8080808080808080U) == 0;
}

bool is_utf8(std::string_view text) {
  return is_ascii(text) || simdjson::validate_utf8(text.data(), text.size());
}

std::string without_high_bytes(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }, '?');
  return out;
}

bool fits(const MessageFields& fields, const Field& field) {
  const bool is_number = field.shape == Field::Shape::number || field.shape == Field::Shape::flag;
  return is_number ? fields.has_value() : fields.has_bytes();
}

}  // namespace

base::Result<simdjson::dom::element> Tape::write(std::string_view message, const Schema& schema) {
  clear(message.size());
  write_word(Type::ROOT, 0);
  TRY(write_object(message, schema));
  write_word(Type::ROOT, 0);
  return document_.root();
}

void Tape::clear(std::size_t size) {
  words_ = letters_ = 0;
  const std::size_t room = room_for_words_ * sizeof(document_.tape[0]) + room_for_letters_;
  if (room <= kKeptRoom || size > kKeptRoom / 8) return;
  document_ = {};
  room_for_words_ = room_for_letters_ = 0;
}

base::Status Tape::write_object(std::string_view message, const Schema& schema) {
  MessageFields fields(message);
  const std::size_t opened = open(Type::START_OBJECT);
  std::uint64_t members = 0;
  std::size_t near = 0;
  for (bool goes_on = fields.next(); goes_on;) {
    const Field* const field = schema.find(fields.number(), near);
    if (field == nullptr) {
      goes_on = fields.next();
    } else if (field->is_list || field->shape == Field::Shape::map) {
      TRY(write_list(fields, goes_on, *field));
      ++members;
    } else {
      if (TRY(write_member(fields, *field))) ++members;
      goes_on = fields.next();
    }
  }
  if (fields.broken()) return fail(Fault::invalid, "not a valid message");
  close(Type::END_OBJECT, opened, members);
  return {};
}

// What belongs to a list stands together: every server writes it so. Elsewhere it would make the field appear twice.
base::Status Tape::write_list(MessageFields& fields, bool& goes_on, const Field& field) {
  const bool is_map = field.shape == Field::Shape::map;
  write_text(field.name);
  const std::size_t opened = open(is_map ? Type::START_OBJECT : Type::START_ARRAY);
  std::uint64_t count = 0;
  for (; goes_on && fields.number() == field.number; goes_on = fields.next()) {
    if (!fits(fields, field)) return malformed(field.name);
    TRY(is_map ? base::within(field.name, write_entry(fields.bytes())) : write_value(fields, field));
    ++count;
  }
  close(is_map ? Type::END_OBJECT : Type::END_ARRAY, opened, count);
  return {};
}

// False: JSON has no such member.
base::Result<bool> Tape::write_member(const MessageFields& fields, const Field& field) {
  if (!fits(fields, field)) return malformed(field.name);
  if (field.shape == Field::Shape::text && fields.bytes().empty()) return false;
  if (field.shape == Field::Shape::words) {
    const std::string words = TRY(base::within(field.name, field.words(fields.bytes())));
    if (words.empty()) return false;
    write_text(field.name);
    write_text(words);
    return true;
  }
  write_text(field.name);
  TRY(write_value(fields, field));
  return true;
}

base::Status Tape::write_value(const MessageFields& fields, const Field& field) {
  switch (field.shape) {
    case Field::Shape::number:
      write_word(Type::INT64, 0);
      put_word(fields.value());
      return {};
    case Field::Shape::flag:
      write_word(fields.value() != 0 ? Type::TRUE_VALUE : Type::FALSE_VALUE, 0);
      return {};
    case Field::Shape::message:
      return base::within(field.name, write_object(fields.bytes(), *field.of));
    default:
      write_text(fields.bytes());
      return {};
  }
}

base::Status Tape::write_entry(std::string_view entry) {
  std::string_view key = "";  // One that is left out is empty, and is copied from somewhere.
  std::string_view value = "";
  MessageFields fields(entry);
  while (fields.next()) {
    if (!fields.has_bytes()) return fail(Fault::invalid, "not a valid message");
    if (fields.number() == 1) key = fields.bytes();
    if (fields.number() == 2) value = fields.bytes();
  }
  if (fields.broken()) return fail(Fault::invalid, "not a valid message");
  write_text(key);
  write_text(value);
  return {};
}

void Tape::write_text(std::string_view text) {
  if (!is_utf8(text)) return write_text(without_high_bytes(text));
  const auto size = static_cast<std::uint32_t>(text.size());
  make_room(document_.string_buf, room_for_letters_, letters_, letters_ + sizeof size + text.size() + 1);
  write_word(Type::STRING, letters_);
  std::uint8_t* const out = document_.string_buf.get() + letters_;
  std::memcpy(out, &size, sizeof size);
  std::memcpy(out + sizeof size, text.data(), text.size());
  out[sizeof size + text.size()] = 0;
  letters_ += sizeof size + text.size() + 1;
}

void Tape::write_word(Type type, std::uint64_t payload) {
  put_word(payload | static_cast<std::uint64_t>(type) << kTypeShift);
}

void Tape::put_word(std::uint64_t word) {
  make_room(document_.tape, room_for_words_, words_, words_ + 1);
  document_.tape[words_++] = word;
}

std::size_t Tape::open(Type type) {
  write_word(type, 0);  // Where it ends is known when it does.
  return words_ - 1;
}

void Tape::close(Type type, std::size_t opened, std::uint64_t members) {
  write_word(type, opened);
  document_.tape[opened] |= words_ | std::min(members, kMostCounted) << kCountShift;
}

}  // namespace json
