#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "json/writer.h"

namespace cli {

// How a list of objects is wanted, in kubectl's words.
struct ListStyle {
  bool wide = false;      // -o wide
  bool headers = true;    // Not with --no-headers, which leaves nothing but rows.
  std::string sort_by{};  // --sort-by: a field of the rows' documents, "{.sync}" or ".sync"; empty: as they come.
};

// Rows about objects: a table for people, documents for programs, names for the next command.
class Listing {
 public:
  struct Column {
    std::string title;
    bool wide = false;  // Shown with -o wide only.
  };
  struct Row {
    std::string name;  // "node/worker-1"
    std::vector<Table::Cell> cells;
    std::string json;
  };

  explicit Listing(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(Row row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  // By a field of the documents: by size where all are numbers, else as text; rows that lack it first. Equal ones stay
  // in order.
  // An error names a path that cannot be read, or a field that no row has.
  base::Status sort(std::string_view path);

  void print(Page& page, const ListStyle& style) const;
  std::vector<std::string> names() const;  // Each once, in the order of the rows.
  void put(json::Array& out) const;        // The documents.

 private:
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace cli
