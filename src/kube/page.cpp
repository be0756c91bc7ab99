#include "kube/page.h"

#include "kube/message.h"

namespace kube {
namespace {

// Of the lists of all kinds: meta/v1 ListMeta, and the objects.
constexpr std::uint32_t kMetadata = 1;
constexpr std::uint32_t kItems = 2;
constexpr std::uint32_t kContinue = 3;
constexpr json::Schema kListMeta{json::field::text(2, "resourceVersion"), json::field::text(kContinue, "continue")};

}  // namespace

base::Result<Page> Page::open(std::string_view body, const json::Schema* schema, json::Reader& reader) {
  Page out(reader);
  if (schema != nullptr && is_message(body)) {
    out.schema_ = schema;
    out.message_ = TRY(open_envelope(body)).object;
    const auto meta = TRY(reader.parse(json::bytes_of(out.message_, kMetadata), kListMeta));
    TRY(base::within("metadata", out.note(meta)));
  } else {
    out.text_ = TRY(reader.parse(body));
    TRY(out.note((*out.text_)["metadata"]));
  }
  return out;
}

base::Status Page::note(const json::Value& meta) {
  const auto version = TRY(meta["resourceVersion"].string());
  version_ = TRY(parse_version(version));
  next_ = TRY(meta["continue"].string_or(""));
  return {};
}

base::Status Page::each(const std::function<base::Status(const Item& item)>& take) {
  if (text_) {
    for (const auto& object : TRY((*text_)["items"].items_or_none())) {
      const auto item = TRY(read_item(object.as_root()));
      TRY(take(item));
    }
    return {};
  }
  json::MessageFields fields(message_);
  while (fields.next()) {
    if (fields.number() != kItems || !fields.has_bytes()) continue;
    const auto item = TRY(read_item(fields.bytes(), *schema_, *reader_));
    TRY(take(item));
  }
  if (fields.broken()) return base::fail(base::Fault::invalid, "not a valid message");
  return {};
}

std::string next_page(std::string_view body) {
  if (const auto envelope = open_envelope(body)) {
    return std::string(json::bytes_of(json::bytes_of(envelope->object, kMetadata), kContinue));
  }
  constexpr std::string_view kField = R"("continue":")";
  // Where a server writes the list's own metadata differs by kind: before all objects, or behind them.
  const auto items = body.find(R"("items":[)");
  const std::string_view before = body.substr(0, items);
  const auto objects_end = body.rfind("}]");
  const std::string_view behind = objects_end == body.npos ? "" : body.substr(objects_end);
  for (const std::string_view part : {before, behind}) {
    const auto at = part.find(kField);
    if (at == part.npos) continue;
    const std::string_view rest = part.substr(at + kField.size());
    return std::string(rest.substr(0, rest.find('"')));
  }
  return "";
}

}  // namespace kube
