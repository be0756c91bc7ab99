#pragma once

#include <memory>
#include <string_view>

#include <libfyaml.h>

#include "base/result.h"

// libfyaml's parser with its quirks around it. Only .cpp files of this folder include this.
namespace json {

// Of a plain or quoted value; empty for any other node.
std::string_view scalar_text(fy_node* node);

using YamlDocument = std::unique_ptr<fy_document, decltype(&fy_document_destroy)>;

class YamlStream {
 public:
  // `text` must outlive the stream.
  static base::Result<YamlStream> open(std::string_view text);

  // Nothing at the end, and after an error.
  YamlDocument next();

  // Of the text read so far: "3:5: duplicate key".
  base::Status status() const;

 private:
  using Diagnostics = std::unique_ptr<fy_diag, decltype(&fy_diag_destroy)>;
  using Parser = std::unique_ptr<fy_parser, decltype(&fy_parser_destroy)>;
  YamlStream(Diagnostics diagnostics, Parser parser)
      : diagnostics_(std::move(diagnostics)), parser_(std::move(parser)) {}

  Diagnostics diagnostics_;
  Parser parser_;
};

}  // namespace json
