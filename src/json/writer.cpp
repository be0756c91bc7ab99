#include "json/writer.h"

#include <utility>

namespace json {

std::string& Object::at(std::string_view key) {
  if (!std::exchange(first_, false)) out_ += ',';
  base::append_json_string(out_, key);
  return out_ += ':';
}

std::string& Array::next() {
  if (!std::exchange(first_, false)) out_ += ',';
  return out_;
}

}  // namespace json
