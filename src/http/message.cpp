#include "http/message.h"

namespace http {

std::optional<std::string_view> find(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (header.name == name) return header.value;
  }
  return std::nullopt;
}

}  // namespace http
