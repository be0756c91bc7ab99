#include "json/reader.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <simdjson.h>

#include "json/tape.h"

namespace json {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t kMaxDepth = 256;
// Buffers grown by one large document are given back before the next small one. They are some fourteen times as large
// as the text that they are for.
constexpr std::size_t kKeptCapacity = 64U << 10U;

Kind kind_of(element value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return Kind::array;
    case element_type::OBJECT:
      return Kind::object;
    case element_type::INT64:
    case element_type::UINT64:
    case element_type::DOUBLE:
      return Kind::number;
    case element_type::STRING:
      return Kind::string;
    case element_type::BOOL:
      return Kind::boolean;
    case element_type::NULL_VALUE:
      return Kind::null;
  }
  return Kind::null;
}

std::optional<std::string_view> repeated(const std::vector<Member>& members) {
  std::vector<std::string_view> keys;
  keys.reserve(members.size());
  for (const Member& member : members) keys.push_back(member.key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice == keys.end()) return std::nullopt;
  return *twice;
}

bool is_plain(std::string_view key) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !key.empty() && key.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string step(std::string_view path, std::string_view key) {
  if (!is_plain(key)) return fmt::format("{}[{:?}]", path, key);
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

std::string_view text(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "null";
}

// An element is a document and an index into its tape, and tape order is text order: so the way to a value can be
// found afterwards, and only errors pay for paths.
struct Value::Access {
  static_assert(sizeof(Node) == sizeof(element) && std::is_trivially_copyable_v<element>);

  static element at(Node node) { return std::bit_cast<element>(node); }
  static Node node(element value) { return std::bit_cast<Node>(value); }

  static std::string path(Node from, Node to, std::string base) {
    if (from == to) return base;
    const element here = at(from);
    if (simdjson::dom::array items; here.get_array().get(items) == simdjson::SUCCESS) {
      std::size_t index = 0;
      std::size_t best = 0;
      Node next = from;
      for (const element item : items) {
        if (node(item).index > to.index) break;
        next = node(item), best = index++;
      }
      return path(next, to, fmt::format("{}[{}]", base, best));
    }
    if (simdjson::dom::object members; here.get_object().get(members) == simdjson::SUCCESS) {
      std::string_view key;
      Node next = from;
      for (const auto member : members) {
        if (node(member.value).index > to.index) break;
        next = node(member.value), key = member.key;
      }
      return path(next, to, step(base, key));
    }
    return base;
  }
};

Value Value::operator[](std::string_view key) const {
  if (state_ != State::found) return *this;
  Value out = *this;
  const element here = Access::at(node_);
  simdjson::dom::object members;
  if (here.get_object().get(members) != simdjson::SUCCESS) {
    if (kind_of(here) != Kind::null) out.state_ = State::not_an_object;
    return out;
  }
  out.key_ = key;
  out.state_ = State::missing;
  for (const auto member : members) {
    if (member.key != key) continue;
    if (out.state_ == State::found) {
      out.state_ = State::repeated, out.node_ = node_;
      return out;
    }
    out.state_ = State::found, out.node_ = Access::node(member.value);
  }
  return out;
}

bool Value::exists() const {
  return state_ == State::found && kind_of(Access::at(node_)) != Kind::null;
}

std::string Value::path() const {
  std::string path = Access::path(root_, node_, "");
  return state_ == State::missing || state_ == State::repeated ? step(path, key_) : path;
}

std::unexpected<base::Error> Value::fail(std::string_view message) const {
  const std::string where = path();
  return base::fail(base::Fault::invalid, where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
}

base::Status Value::expect(Kind wanted) const {
  if (state_ == State::repeated) return fail("appears twice");
  if (state_ == State::not_an_object) {
    return fail(fmt::format("expected an object, found {}", json::text(kind_of(Access::at(node_)))));
  }
  const Kind found = state_ == State::found ? kind_of(Access::at(node_)) : Kind::null;
  if (found == wanted) return {};
  if (found == Kind::null) return fail(fmt::format("required, expected {}", json::text(wanted)));
  return fail(fmt::format("expected {}, found {}", json::text(wanted), json::text(found)));
}

base::Result<std::string_view> Value::string() const {
  TRY(expect(Kind::string));
  return Access::at(node_).get_string().value_unsafe();
}

base::Result<bool> Value::boolean() const {
  TRY(expect(Kind::boolean));
  return Access::at(node_).get_bool().value_unsafe();
}

base::Result<std::int64_t> Value::integer_between(std::int64_t least, std::int64_t most) const {
  TRY(expect(Kind::number));
  std::int64_t number = 0;
  const bool whole = Access::at(node_).get_int64().get(number) == simdjson::SUCCESS;
  if (!whole || number < least || number > most) {
    return fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, text()));
  }
  return number;
}

base::Result<std::vector<Value>> Value::items() const {
  TRY(expect(Kind::array));
  const simdjson::dom::array items = Access::at(node_).get_array().value_unsafe();
  std::vector<Value> out;
  out.reserve(items.size());
  for (const element item : items) out.push_back(Value(Access::node(item), root_));
  return out;
}

base::Result<std::vector<Member>> Value::members() const {
  TRY(expect(Kind::object));
  const simdjson::dom::object members = Access::at(node_).get_object().value_unsafe();
  std::vector<Member> out;
  out.reserve(members.size());
  for (const auto member : members) {
    if (kind_of(member.value) == Kind::null) continue;
    out.push_back({.key = member.key, .value = Value(Access::node(member.value), root_)});
  }
  if (const auto key = repeated(out)) TRY((*this)[*key].expect(Kind::null));
  return out;
}

base::Result<std::vector<Value>> Value::items_or_none() const {
  return exists() || broken() ? items() : std::vector<Value>();
}

base::Result<std::vector<Member>> Value::members_or_none() const {
  return exists() || broken() ? members() : std::vector<Member>();
}

std::string Value::text() const {
  return state_ == State::found ? simdjson::to_string(Access::at(node_)) : "null";
}

Value Value::as_root() const {
  Value out = *this;
  out.root_ = node_;
  return out;
}

struct Reader::Parser {
  simdjson::dom::parser simdjson;
  Tape tape;
};

Reader::Reader() = default;
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

base::Result<Value> Reader::parse(std::string_view text) {
  const auto refuse = [](simdjson::error_code error) {
    return base::fail(base::Fault::invalid, fmt::format("not valid JSON: {}", simdjson::error_message(error)));
  };
  if (text.empty()) return refuse(simdjson::EMPTY);
  if (!parser_ || (parser_->simdjson.capacity() > kKeptCapacity && text.size() <= kKeptCapacity)) {
    parser_ = std::make_unique<Parser>();
  }
  simdjson::dom::parser& parser = parser_->simdjson;
  if (parser.max_depth() != kMaxDepth || parser.capacity() < text.size()) {
    // Grow by doubling, as the documents of one stream have similar sizes.
    const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(text.size(), 4096));
    if (const auto error = parser.allocate(capacity, kMaxDepth)) return refuse(error);
    if (const auto error = parser.doc.allocate(capacity)) return refuse(error);
  }
  const auto parsed = parser.parse(text.data(), text.size(), true);
  if (const auto error = parsed.error()) return refuse(error);
  const Value::Node root = Value::Access::node(parsed.value_unsafe());
  return Value(root, root);
}

base::Result<Value> Reader::parse(std::string_view message, const Schema& schema) {
  if (!parser_) parser_ = std::make_unique<Parser>();
  const Value::Node root = Value::Access::node(TRY(parser_->tape.write(message, schema)));
  return Value(root, root);
}

}  // namespace json
