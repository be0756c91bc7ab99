#pragma once

#include <string>
#include <string_view>

#include "json/message_test.h"

// Answers as an API server writes them in messages.
namespace kube {

inline std::string enveloped(std::string_view kind, const json::WrittenMessage& object) {
  json::WrittenMessage unknown;
  unknown.message(1, json::WrittenMessage().text(1, "v1").text(2, kind)).message(2, object).text(3, "").text(4, "");
  return std::string("k8s\0", 4) + unknown.bytes();
}

inline std::string framed(std::string_view bytes) {
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(bytes.size() >> shift);
  return out + std::string(bytes);
}

// An event of a watch.
inline std::string event_message(std::string_view type, std::string_view kind, const json::WrittenMessage& object) {
  json::WrittenMessage event;
  event.text(1, type).message(2, json::WrittenMessage().text(1, enveloped(kind, object)));
  return framed(event.bytes());
}

// The `metadata` of an object, and the object that has only that.
inline json::WrittenMessage meta_message(std::string_view name, std::string_view version) {
  return json::WrittenMessage().text(1, name).text(3, "n").text(5, "u-" + std::string(name)).text(6, version);
}

}  // namespace kube
