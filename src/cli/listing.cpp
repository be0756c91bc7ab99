#include "cli/listing.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/nearest_word.h"
#include "json/reader.h"

namespace cli {
namespace {

// "{.status.sync}", ".status.sync" and "status.sync" are the same, as they are for kubectl.
base::Result<std::vector<std::string>> fields_of(std::string_view path) {
  std::string_view rest = path;
  if (rest.starts_with('{') && rest.ends_with('}')) rest = rest.substr(1, rest.size() - 2);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  std::vector<std::string> out;
  while (true) {
    const auto dot = rest.find('.');
    out.emplace_back(rest.substr(0, dot));
    if (out.back().empty() || out.back().find_first_of("[]{}*@$ ") != std::string::npos) {
      return base::fail(base::Fault::invalid,
                        fmt::format("--sort-by: \"{}\" is no path of fields, as \"{{.node}}\" is one", path));
    }
    if (dot == std::string_view::npos) return out;
    rest.remove_prefix(dot + 1);
  }
}

// What stands there: text as it is, everything else as JSON.
struct Key {
  std::string text;
  std::optional<double> number{};  // Of a JSON number. Text that looks like one is a name.
};

std::optional<double> number(const std::string& json) {
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return value;
}

// Nothing where there is none.
base::Result<std::optional<Key>> value_at(const std::string& document, const std::vector<std::string>& fields) {
  json::Reader reader;
  json::Value value = TRY(reader.parse(document));
  for (const std::string& field : fields) value = value[field];
  if (!value.exists()) return std::nullopt;
  if (const auto text = value.string()) return Key{.text = std::string(*text)};
  return Key{.text = value.text(), .number = number(value.text())};
}

std::vector<std::string> fields_in(const std::string& document) {
  json::Reader reader;
  const auto root = reader.parse(document);
  const auto members = root ? root->members() : std::unexpected(root.error());
  std::vector<std::string> out;
  if (!members) return out;
  for (const json::Member& member : *members) out.emplace_back(member.key);
  return out;
}

}  // namespace

base::Status Listing::sort(std::string_view path) {
  const auto fields = TRY(fields_of(path));
  std::vector<std::pair<std::optional<Key>, Row>> keyed;
  for (const Row& row : rows_) keyed.emplace_back(TRY(value_at(row.json, fields)), row);
  const bool any = std::ranges::any_of(keyed, [](const auto& one) { return one.first.has_value(); });
  if (!any && !keyed.empty()) {
    const auto known = fields_in(rows_.front().json);
    const std::string nearest = base::nearest_word(fields.front(), known);
    return base::fail(base::Fault::invalid,
                      fmt::format("--sort-by: no row has a field \"{}\"; {}", path,
                                  nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                  : fmt::format("did you mean \"{}\"?", nearest)));
  }
  // One way for all of them: with 9 before 10 by size, but either by text beside "1a", there would be no order.
  const bool by_size =
      std::ranges::all_of(keyed, [](const auto& one) { return !one.first || one.first->number.has_value(); });
  std::ranges::stable_sort(keyed, [&](const auto& left, const auto& right) {
    if (!left.first || !right.first) return !left.first && right.first;
    return by_size ? *left.first->number < *right.first->number : left.first->text < right.first->text;
  });
  rows_.clear();
  for (auto& [value, row] : keyed) rows_.push_back(std::move(row));
  return {};
}

void Listing::print(Page& page, const ListStyle& style) const {
  Table table;
  const auto shown = [&](std::size_t column) { return style.wide || !columns_[column].wide; };
  if (style.headers) {
    std::vector<Table::Cell> titles;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (shown(i)) titles.emplace_back(columns_[i].title);
    }
    table.row(std::move(titles));
  }
  for (const Row& row : rows_) {
    std::vector<Table::Cell> cells;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (shown(i)) cells.push_back(row.cells[i]);
    }
    table.row(std::move(cells));
  }
  if (!rows_.empty()) table.print(page);
}

std::vector<std::string> Listing::names() const {
  std::vector<std::string> out;
  for (const Row& row : rows_) {
    if (std::ranges::find(out, row.name) == out.end()) out.push_back(row.name);
  }
  return out;
}

void Listing::put(json::Array& out) const {
  for (const Row& row : rows_) out.put_json(row.json);
}

}  // namespace cli
