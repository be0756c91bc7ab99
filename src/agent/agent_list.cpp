#include "agent/agent_list.h"

#include <string>

#include <fmt/format.h>

#include "json/reader.h"
#include "kube/watch.h"

namespace agent {

base::Result<AgentList> decode_agent_list(std::string_view body) {
  json::Reader reader;
  const auto list = TRY(reader.parse(body));
  const std::string wanted = fmt::format("{}List", api::Agent::kKind);
  if (TRY(list["kind"].string()) != wanted) return list["kind"].fail("expected " + wanted);
  const auto meta = list["metadata"];
  if (!TRY(meta["continue"].string_or("")).empty()) return meta["continue"].fail("not the whole list");
  const auto version = TRY(meta["resourceVersion"].string());
  AgentList out{.version = TRY(kube::parse_version(version)), .agents = {}};
  for (const json::Value& item : TRY(list["items"].items_or_none())) {
    out.agents.push_back(TRY(api::decode_agent(item)));
  }
  return out;
}

}  // namespace agent
