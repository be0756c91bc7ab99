#include "cli/version.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/version.h"
#include "cli/gaps.h"
#include "json/writer.h"

namespace cli {
namespace {

// Major and minor of "v0.3.1-rc1".
std::optional<std::array<int, 2>> release_of(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::array<int, 2> out{};
  for (int& number : out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (&number == out.data()) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string shown(std::string_view version) {
  return version.empty() ? "unknown" : fmt::format("{}{}", version.starts_with('v') ? "" : "v", version);
}

// "v0.3.0 on 3 nodes, v0.2.0 on 1"
std::string agents_text(const ClusterVersions& cluster) {
  if (!cluster.agents) return "unknown";
  std::string out;
  for (const auto& [version, nodes] : *cluster.agents) {
    out += out.empty() ? fmt::format("{} on {} node{}", shown(version), nodes, nodes == 1 ? "" : "s")
                       : fmt::format(", {} on {}", shown(version), nodes);
  }
  return out.empty() ? "none has reported" : out;
}

std::string controllers_text(const ClusterVersions& cluster) {
  if (!cluster.controllers) return "unknown";
  const std::set<std::string> versions(cluster.controllers->begin(), cluster.controllers->end());
  std::string out;
  for (const std::string& version : versions) {
    out += (out.empty() ? "" : ", ") + (version.empty() ? "not told by its image's tag" : shown(version));
  }
  return out.empty() ? "none is installed" : out;
}

bool is_skewed(const ClusterVersions& cluster) {
  std::set<std::string> all = {std::string(base::version())};
  if (cluster.controllers) all.insert(cluster.controllers->begin(), cluster.controllers->end());
  if (cluster.agents) {
    for (const auto& [version, nodes] : *cluster.agents) all.insert(version);
  }
  return std::ranges::any_of(all, [&](const std::string& one) {
    return std::ranges::any_of(all, [&](const std::string& other) { return is_too_far(one, other); });
  });
}

void show(Answer& answer, const ClusterVersions& cluster, bool skewed) {
  Table table;
  table.row({"iprule-controller", controllers_text(cluster)});
  table.row({"iprule-agent", agents_text(cluster)});
  table.row({"Kubernetes", shown(cluster.server)});
  table.print(answer.page);
  if (skewed) {
    answer.page.put("Skew not supported", Tone::bad)
        .put(": same major version, and minor versions at most one apart")
        .end_line();
    answer.code = ExitCode::attention;
  } else if (cluster.gaps.empty()) {
    answer.page.line("Skew ok.");
  }
  add_gaps(answer, cluster.gaps);
}

void put(json::Object& out, const ClusterVersions& cluster, bool skewed) {
  if (cluster.controllers) {
    out.array("controllers", [&](json::Array& list) {
      for (const std::string& version : *cluster.controllers) list.put(version);
    });
  }
  if (cluster.agents) {
    out.array("agents", [&](json::Array& list) {
      for (const auto& [version, nodes] : *cluster.agents) {
        list.object([&](json::Object& item) {
          item.put("version", version);
          item.put("nodes", nodes);
        });
      }
    });
  }
  out.put_unless_empty("server", cluster.server);
  if (skewed || cluster.gaps.empty()) out.put("skewSupported", !skewed);
  put_gaps(out, cluster.gaps);
}

}  // namespace

bool is_too_far(std::string_view one, std::string_view other) {
  const auto left = release_of(one);
  const auto right = release_of(other);
  if (!left || !right) return false;
  return (*left)[0] != (*right)[0] || std::abs((*left)[1] - (*right)[1]) > 1;
}

std::string version_in_image(std::string_view image) {
  image = image.substr(0, image.find('@'));  // A digest says nothing.
  const auto colon = image.rfind(':');
  const auto slash = image.rfind('/');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) return "";
  std::string_view tag = image.substr(colon + 1);
  if (!release_of(tag)) return "";
  if (tag.starts_with('v')) tag.remove_prefix(1);
  return std::string(tag);
}

Answer show_version(std::string_view program, const std::optional<ClusterVersions>& cluster) {
  Answer answer;
  answer.page.line("{}", base::version_text(program));
  const bool skewed = cluster && is_skewed(*cluster);
  if (cluster) show(answer, *cluster, skewed);
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", "VersionReport");
    out.object("client", [&](json::Object& client) {
      client.put("version", base::version());
      client.put("text", base::version_text(program));
    });
    if (cluster) put(out, *cluster, skewed);
  });
  return answer;
}

}  // namespace cli
