#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <simdjson.h>

#include "base/result.h"
#include "json/message.h"

namespace json {

// A message as simdjson would have left the JSON that it stands for: values on a "tape", texts beside it (doc/tape.md
// of simdjson). So both are read by the same code.
class Tape {
 public:
  // Valid until the next call.
  base::Result<simdjson::dom::element> write(std::string_view message, const Schema& schema);

 private:
  using Type = simdjson::internal::tape_type;

  void clear(std::size_t size);
  base::Status write_object(std::string_view message, const Schema& schema);
  base::Status write_list(MessageFields& fields, bool& goes_on, const Field& field);
  base::Result<bool> write_member(const MessageFields& fields, const Field& field);
  base::Status write_value(const MessageFields& fields, const Field& field);
  base::Status write_entry(std::string_view entry);
  void write_text(std::string_view text);
  void write_word(Type type, std::uint64_t payload);
  void put_word(std::uint64_t word);
  std::size_t open(Type type);
  void close(Type type, std::size_t opened, std::uint64_t members);

  simdjson::dom::document document_;
  std::size_t words_ = 0;
  std::size_t room_for_words_ = 0;
  std::size_t letters_ = 0;
  std::size_t room_for_letters_ = 0;
};

}  // namespace json
