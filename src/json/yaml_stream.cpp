#include "json/yaml_stream.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace json {

std::string_view scalar_text(fy_node* node) {
  std::size_t length = 0;
  const char* text = node != nullptr ? fy_node_get_scalar(node, &length) : nullptr;
  return text != nullptr ? std::string_view(text, length) : std::string_view();
}

base::Result<YamlStream> YamlStream::open(std::string_view text) {
  // libfyaml 0.7.12 never returns from a directive line that breaks off inside a character.
  if (!simdjson::validate_utf8(text.data(), text.size())) return base::fail(base::Fault::invalid, "not UTF-8 text");

  fy_diag_cfg quiet;
  fy_diag_cfg_default(&quiet);
  quiet.fp = nullptr;
  Diagnostics diagnostics(fy_diag_create(&quiet), &fy_diag_destroy);
  if (!diagnostics) return base::fail(base::Fault::unavailable, "out of memory");
  fy_diag_set_collect_errors(diagnostics.get(), true);

  fy_parse_cfg config{};
  config.flags = FYPCF_QUIET;
  config.diag = diagnostics.get();
  Parser parser(fy_parser_create(&config), &fy_parser_destroy);
  if (!parser || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
    return base::fail(base::Fault::unavailable, "out of memory");
  }
  return YamlStream(std::move(diagnostics), std::move(parser));
}

YamlDocument YamlStream::next() {
  return {fy_parse_load_document(parser_.get()), &fy_document_destroy};
}

base::Status YamlStream::status() const {
  if (!fy_parser_get_stream_error(parser_.get())) return {};
  void* cursor = nullptr;
  const fy_diag_error* error = fy_diag_errors_iterate(diagnostics_.get(), &cursor);
  if (error == nullptr) return base::fail(base::Fault::invalid, "not valid YAML");
  return base::fail(base::Fault::invalid, fmt::format("{}:{}: {}", error->line, error->column, error->msg));
}

}  // namespace json
