#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace json {

class Schema;

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

std::string_view text(Kind kind);  // "a string", "null", ...

struct Member;

// A place in a parsed document: cheap to copy, valid (with every string it gave) until its Reader parses again or
// ends. Going to a place never fails; asking for what is there does, with the place in the message:
// "spec.cidrs[2]: expected a string, found a number". A field that is null counts as absent, as in Kubernetes.
// A key that appears twice in an object is an error where the key is asked for.
class Value {
 public:
  Value operator[](std::string_view key) const;  // `key` must outlive the Value: use literals.
  bool exists() const;                           // Neither absent nor null.

  base::Result<std::string_view> string() const;
  base::Result<bool> boolean() const;
  base::Result<std::vector<Value>> items() const;
  base::Result<std::vector<Member>> members() const;  // In the order of the text, without the null ones.
  base::Result<std::int64_t> integer_between(std::int64_t least, std::int64_t most) const;
  template <std::integral Number>
  base::Result<Number> integer() const {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    const auto number = integer_between(
        std::numeric_limits<Number>::min(),
        sizeof(Number) < sizeof(kMost) ? static_cast<std::int64_t>(std::numeric_limits<Number>::max()) : kMost);
    if (!number) return std::unexpected(number.error());
    return static_cast<Number>(*number);
  }

  // The same with an answer for what is absent; what is there must still have the right type.
  base::Result<std::string_view> string_or(std::string_view fallback) const {
    return exists() || broken() ? string() : fallback;
  }
  base::Result<bool> boolean_or(bool fallback) const { return exists() || broken() ? boolean() : fallback; }
  template <std::integral Number>
  base::Result<Number> integer_or(Number fallback) const {
    return exists() || broken() ? integer<Number>() : fallback;
  }
  base::Result<std::vector<Value>> items_or_none() const;
  base::Result<std::vector<Member>> members_or_none() const;

  std::string text() const;  // The value as JSON without blanks; "null" for an absent one.
  std::string path() const;  // "spec.cidrs[2]"; empty for the root.

  // An error of the caller's about this place: "spec.cidr: <message>".
  std::unexpected<base::Error> fail(std::string_view message) const;

  // The same place as the start of all paths below it: an object inside a list speaks of its own fields.
  Value as_root() const;

 private:
  friend class Reader;
  struct Node {  // What simdjson's element holds; its header stays out of ours.
    const void* document;
    std::size_t index;
    bool operator==(const Node&) const = default;
  };
  struct Access;
  enum class State : std::uint8_t { found, missing, repeated, not_an_object };

  Value(Node node, Node root) : node_(node), root_(root) {}
  bool broken() const { return state_ == State::repeated || state_ == State::not_an_object; }
  base::Status expect(Kind wanted) const;

  Node node_;             // The value; or, where there is none, the nearest one above it.
  Node root_;             // Where paths start.
  std::string_view key_;  // The member that is missing or repeated in `node_`.
  State state_ = State::found;
};

struct Member {
  std::string_view key;
  Value value;
};

// Parses one document at a time into buffers that it keeps, so that many small documents cost no large allocations.
// One thread at a time. The text is checked whole (syntax, UTF-8, nothing after the end, at most 256 levels) before
// anything of it is seen. Never throws; needs no padding and no lifetime of `text` beyond the call.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  base::Result<Value> parse(std::string_view text);
  // The same of a message (message.h): what the schema names is checked whole, and is there as in the object's JSON.
  base::Result<Value> parse(std::string_view message, const Schema& schema);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace json
