#include "cli/explain_services.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/gaps.h"
#include "cli/steering.h"
#include "json/writer.h"

namespace cli {
namespace {

std::string_view text(Steered steered) {
  switch (steered) {
    case Steered::by_nothing:
      return "by nothing";
    case Steered::as_wanted:
      return "as wanted";
    case Steered::otherwise:
      return "NOT AS WANTED";
  }
  return "";
}

bool is_meant(const api::Service& service, const ServiceChoice& choice) {
  if (service.vips.empty() || (choice.ns && service.meta.ns != *choice.ns)) return false;
  const auto named = [&](const kube::Key& key) { return key.ns == service.meta.ns && key.name == service.meta.name; };
  return !choice.only || std::ranges::any_of(*choice.only, named);
}

std::string cell_text(const std::vector<net::Address>& addresses) {
  std::string out;
  for (const net::Address& address : addresses) out += (out.empty() ? "" : ",") + address.text();
  return out.empty() ? "-" : out;
}

Listing::Row row_of(const api::Service& service, const std::vector<Steering>& steerings, bool with_namespace) {
  const Steered steered = sum_of(steerings);
  Listing::Row row{.name = "service/" + service.meta.name, .cells = {}, .json = {}};
  if (with_namespace) row.cells.emplace_back(service.meta.ns);
  row.cells.emplace_back(service.meta.name);
  row.cells.emplace_back(cell_text(service.vips));
  const Steering* first = steerings.empty() ? nullptr : &steerings.front();
  row.cells.emplace_back(first != nullptr ? first->rule->meta.name : "-");
  row.cells.emplace_back(std::string(text(steered)), steered == Steered::otherwise ? Tone::bad : Tone::plain);
  row.cells.emplace_back(cell_text(service.cluster_ips));
  row.cells.emplace_back(first != nullptr ? std::string(api::text(first->desired->tuple.mode)) : "-");
  row.cells.emplace_back(first != nullptr ? fmt::to_string(first->desired->tuple.table) : "-");
  row.cells.emplace_back(first != nullptr ? fmt::to_string(first->desired->tuple.priority) : "-");
  row.cells.emplace_back(first != nullptr ? fmt::format("{}/{}", first->reported, first->nodes) : "-");
  row.json = json::object([&](json::Object& out) {
    out.put("namespace", service.meta.ns);
    out.put("name", service.meta.name);
    out.array("loadBalancer", [&](json::Array& list) {
      for (const net::Address& address : service.vips) list.put(address.text());
    });
    if (first != nullptr) {
      out.put("ipRule", first->rule->meta.name);
      out.put("sourceMode", api::text(first->desired->tuple.mode));
      out.put("table", first->desired->tuple.table);
      out.put("priority", first->desired->tuple.priority);
      out.put("appliedNodes", first->reported);
      out.put("nodes", first->nodes);
    }
    out.put("steered", text(steered));
  });
  return row;
}

std::vector<Listing::Column> columns(bool with_namespace) {
  std::vector<Listing::Column> out = {{"SERVICE"},     {"LOAD BALANCER"},    {"IPRULE"},
                                      {"STEERED"},     {"CLUSTER-IP", true}, {"MODE", true},
                                      {"TABLE", true}, {"PRIORITY", true},   {"NODES", true}};
  if (with_namespace) out.insert(out.begin(), Listing::Column{"NAMESPACE"});
  return out;
}

}  // namespace

base::Result<Answer> explain_services(const ClusterObjects& objects, const ServiceChoice& choice,
                                      const ListStyle& style) {
  const Steerings all(objects);
  Listing listing(columns(!choice.ns));
  std::size_t wrong = 0;
  std::size_t meant = 0;
  for (const api::Service& service : objects.wanted.services) {
    if (!is_meant(service, choice)) continue;
    const auto steerings = all.of(service);
    ++meant;
    if (sum_of(steerings) == Steered::otherwise) ++wrong;
    listing.row(row_of(service, steerings, !choice.ns));
  }
  if (!style.sort_by.empty()) TRY(listing.sort(style.sort_by));

  Answer answer;
  listing.print(answer.page, style);
  if (style.headers) {
    answer.page.line("{}: {} of {} Services with a load balancer's address are not steered as wanted.{}",
                     choice.ns ? "Name space " + *choice.ns : "All name spaces", wrong, meant,
                     wrong > 0 ? "  Next: iprulectl explain svc/NAME -n " + choice.ns.value_or("NAMESPACE") : "");
  }
  if (wrong > 0) answer.code = ExitCode::attention;
  add_gaps(answer, objects.gaps);
  answer.names = listing.names();
  answer.json = json::object([&](json::Object& out) {
    out.put("apiVersion", api::kApiVersion);
    out.put("kind", choice.ns ? "NamespaceExplanation" : "ServiceExplanationList");
    if (choice.ns) out.put("namespace", *choice.ns);
    out.array("services", [&](json::Array& list) { listing.put(list); });
    put_gaps(out, objects.gaps);
  });
  return answer;
}

}  // namespace cli
