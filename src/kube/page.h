#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/message.h"
#include "json/reader.h"
#include "kube/watch.h"

namespace kube {

// One page of a list, as JSON or as a message. Lives as long as its bytes, and until the reader parses anything else.
class Page {
 public:
  // `schema`: of its objects in a message; none: a message is an error.
  static base::Result<Page> open(std::string_view body, const json::Schema* schema, json::Reader& reader);

  std::uint64_t version() const { return version_; }
  const std::string& next() const { return next_; }  // What to ask for the next page with; empty: it is the last.

  // Gives each object to `take`, for as long as that call lasts. Once.
  base::Status each(const std::function<base::Status(const Item& item)>& take);

 private:
  explicit Page(json::Reader& reader) : reader_(&reader) {}
  base::Status note(const json::Value& meta);

  json::Reader* reader_;
  std::optional<json::Value> text_;
  std::string_view message_;
  const json::Schema* schema_ = nullptr;
  std::uint64_t version_ = 0;
  std::string next_;
};

// What the text of a list's page says the next one is to be asked for with, found without decoding it; empty: it is the
// last, or does not say. A field of an object may look the same: a guess.
std::string next_page(std::string_view body);

}  // namespace kube
