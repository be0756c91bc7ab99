#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/page.h"
#include "cli/status.h"
#include "json/writer.h"
#include "meta/time.h"

namespace cli {

// One of the programs that make up the whole, as a line of the page and of the document.
struct Component {
  std::string name;
  std::optional<bool> is_good;  // Nothing: it could not be asked.
  std::string ready;
  std::string version;
  std::string detail;
};

// The controllers, and the agents of every Agent.
std::vector<Component> components_of(const ClusterFacts& facts, meta::Time now);

Table::Cell light_of(std::optional<bool> is_good);
Table table_of(const std::vector<Component>& components);
void put(json::Array& list, const Component& component);

}  // namespace cli
