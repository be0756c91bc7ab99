#include "kube/kubeconfig.h"

#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "http/base64.h"
#include "json/reader.h"
#include "json/writer.h"
#include "json/yaml.h"
#include "kube/proxy.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

// RFC 4648 with padding; line breaks are skipped. Errors never show the text: it may be a key.
base::Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '=') continue;
    static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return fail(Fault::invalid, "not base64");
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    if (++count % 4 != 1) out += static_cast<char>(bits >> (6U - 2U * static_cast<unsigned>((count - 1) % 4)));
  }
  if (count % 4 == 1) return fail(Fault::invalid, "not base64");
  return out;
}

// Where an entry stands: beside which file names in it are meant, and what errors call it.
struct Place {
  std::filesystem::path file;
  std::string text;
};

std::filesystem::path file(std::string_view name, const Place& place) {
  return name.empty() ? std::filesystem::path() : place.file.parent_path() / name;  // An absolute name stays as it is.
}

// `certificate-authority` and `certificate-authority-data`: the data wins.
base::Result<Pem> pem(const json::Value& value, std::string_view field, const Place& place) {
  const std::string data_field = fmt::format("{}-data", field);
  const auto data = value[data_field];
  Pem out;
  out.file = file(TRY(value[field].string_or("")), place);
  const auto text = TRY(data.string_or(""));
  auto decoded = decode_base64(text);
  if (!decoded) return data.fail(decoded.error().message());
  out.data = *std::move(decoded);
  out.field = fmt::format("{}.{}", place.text, out.data.empty() ? field : data_field);
  return out;
}

base::Result<Kubeconfig::Cluster> decode_cluster(const json::Value& value, const Place& place) {
  Kubeconfig::Cluster out;
  out.place = place.text;
  out.server = TRY(value["server"].string_or(""));
  out.ca = TRY(pem(value, "certificate-authority", place));
  out.tls_server_name = TRY(value["tls-server-name"].string_or(""));
  out.insecure = TRY(value["insecure-skip-tls-verify"].boolean_or(false));
  out.proxy = TRY(value["proxy-url"].string_or(""));
  for (const auto& item : TRY(value["extensions"].items_or_none())) {
    if (TRY(item["name"].string_or("")) != "client.authentication.k8s.io/exec") continue;
    out.told_to_plugins = item["extension"].exists() ? item["extension"].text() : "";
  }
  return out;
}

base::Result<ExecPlugin::Interactive> decode_interactive(const json::Value& value) {
  const auto mode = TRY(value.string_or("IfAvailable"));
  if (mode == "Never") return ExecPlugin::Interactive::never;
  if (mode == "IfAvailable") return ExecPlugin::Interactive::if_available;
  if (mode == "Always") return ExecPlugin::Interactive::always;
  return value.fail(fmt::format("\"{}\" is none of Never, IfAvailable, Always", mode));
}

base::Result<ExecPlugin> decode_plugin(const json::Value& value, const Place& place) {
  ExecPlugin out;
  out.api_version = TRY(value["apiVersion"].string());
  if (out.api_version != "client.authentication.k8s.io/v1" &&
      out.api_version != "client.authentication.k8s.io/v1beta1") {
    return value["apiVersion"].fail("expected client.authentication.k8s.io/v1 or v1beta1");
  }
  out.command = TRY(value["command"].string());
  // A name with a slash is a file beside the kubeconfig; one without is looked up in PATH.
  if (out.command.find('/') != std::string::npos) out.command = file(out.command, place).native();
  for (const auto& argument : TRY(value["args"].items_or_none())) {
    out.arguments.emplace_back(TRY(argument.string()));
  }
  for (const auto& variable : TRY(value["env"].items_or_none())) {
    const auto name = TRY(variable["name"].string());
    out.environment.push_back(fmt::format("{}={}", name, TRY(variable["value"].string_or(""))));
  }
  out.install_hint = TRY(value["installHint"].string_or(""));
  out.interactive = TRY(decode_interactive(value["interactiveMode"]));
  out.wants_cluster = TRY(value["provideClusterInfo"].boolean_or(false));
  return out;
}

base::Result<Impersonation> decode_impersonation(const json::Value& value) {
  Impersonation out;
  out.user = TRY(value["as"].string_or(""));
  out.uid = TRY(value["as-uid"].string_or(""));
  for (const auto& group : TRY(value["as-groups"].items_or_none())) out.groups.emplace_back(TRY(group.string()));
  for (const auto& [key, values] : TRY(value["as-user-extra"].members_or_none())) {
    auto& more = out.extra[std::string(key)];
    for (const auto& one : TRY(values.items_or_none())) more.emplace_back(TRY(one.string()));
  }
  return out;
}

base::Result<Kubeconfig::User> decode_user(const json::Value& value, const Place& place) {
  Kubeconfig::User out;
  out.certificate = TRY(pem(value, "client-certificate", place));
  out.key = TRY(pem(value, "client-key", place));
  out.token = TRY(value["token"].string_or(""));
  out.token_file = file(TRY(value["tokenFile"].string_or("")), place);
  out.token_field = place.text + ".tokenFile";
  if (value["exec"].exists()) {
    if (auto plugin = decode_plugin(value["exec"], place)) {
      out.plugin = *std::move(plugin);
    } else {  // With the number of the entry, where other errors have its name.
      out.unusable = fmt::format("{}: {}", place.file.string(), plugin.error().message());
    }
  }
  out.impersonate = TRY(decode_impersonation(value));
  for (const std::string_view way : {"auth-provider", "username"}) {
    if (value[way].exists()) out.unusable = fmt::format("{}.{} is not supported", place.text, way);
  }
  return out;
}

base::Result<Kubeconfig::Context> decode_context(const json::Value& value, const Place&) {
  Kubeconfig::Context out;
  out.cluster = TRY(value["cluster"].string_or(""));
  out.user = TRY(value["user"].string_or(""));
  out.ns = TRY(value["namespace"].string_or(""));
  return out;
}

// `list`: "users", and `member`: "user".
template <typename T>
base::Status decode_named(std::map<std::string, T>& out, const json::Value& root, std::string_view list,
                          std::string_view member, base::Result<T> (*decode)(const json::Value&, const Place&),
                          const std::filesystem::path& file) {
  std::set<std::string> names;
  for (const auto& item : TRY(root[list].items_or_none())) {
    const std::string name(TRY(item["name"].string()));
    // Nobody knows which of the two was meant; kubectl refuses them, too.
    if (!names.insert(name).second) return item["name"].fail(fmt::format("duplicate name \"{}\" in list", name));
    if (!item[member].exists()) continue;
    const Place place{.file = file, .text = fmt::format("{}: {}[{}]", file.string(), list, name)};
    out.emplace(name, TRY(decode(item[member], place)));
  }
  return {};
}

// As kubectl has it, a password of the proxy included: whoever asks the provider goes the same way.
base::Result<std::string> told_to_plugin(const Config& config, const Kubeconfig::Cluster& cluster) {
  const std::string ca = TRY(base::within(config.ca.field, config.ca.read()));
  return json::object([&](json::Object& out) {
    out.put("server", config.server.text());
    out.put_unless_empty("certificate-authority-data", http::base64(ca));
    out.put_unless_empty("tls-server-name", config.tls_server_name);
    out.put_unless_empty("insecure-skip-tls-verify", config.insecure);
    out.put_unless_empty("proxy-url", cluster.proxy);
    if (cluster.told_to_plugins.empty()) {
      out.put_null("config");
    } else {
      out.put_json("config", cluster.told_to_plugins);
    }
  });
}

template <typename T>
base::Result<T> look_up(const std::map<std::string, T>& map, std::string_view what, const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) return fail(Fault::absent, fmt::format("kubeconfig has no {} \"{}\"", what, name));
  return found->second;
}

}  // namespace

base::Result<Kubeconfig> Kubeconfig::parse(std::string_view text, const std::filesystem::path& file) {
  Kubeconfig out;
  const auto documents = TRY(json::from_yaml(text));
  if (documents.empty()) return out;
  json::Reader reader;
  const auto root = TRY(reader.parse(documents.front()));
  out.current_context = TRY(root["current-context"].string_or(""));
  TRY(decode_named(out.clusters, root, "clusters", "cluster", decode_cluster, file));
  TRY(decode_named(out.users, root, "users", "user", decode_user, file));
  TRY(decode_named(out.contexts, root, "contexts", "context", decode_context, file));
  return out;
}

void Kubeconfig::merge(Kubeconfig later) {
  clusters.merge(later.clusters);
  users.merge(later.users);
  contexts.merge(later.contexts);
  if (current_context.empty()) current_context = std::move(later.current_context);
}

base::Result<Config> Kubeconfig::choose(std::string_view context, const Override& instead) const {
  const std::string name(context.empty() ? current_context : context);
  if (name.empty()) return fail(Fault::absent, "kubeconfig has no current-context");
  Context chosen = TRY(look_up(contexts, "context", name));
  if (!instead.cluster.empty()) chosen.cluster = instead.cluster;
  if (!instead.user.empty()) chosen.user = instead.user;
  const Cluster cluster = TRY(look_up(clusters, "cluster", chosen.cluster));
  const User user = chosen.user.empty() ? User() : TRY(look_up(users, "user", chosen.user));
  if (!user.unusable.empty()) return fail(Fault::invalid, user.unusable);

  Config out;
  out.impersonate = TRY(whom_to_be(user.impersonate, instead.impersonate, fmt::format("user \"{}\"", chosen.user)));
  out.server = TRY(base::within(cluster.place + ".server", http::Url::parse(cluster.server)));
  out.ca = cluster.ca;
  out.tls_server_name = cluster.tls_server_name;
  out.insecure = cluster.insecure;
  if (out.server.scheme == "https") {  // As kubectl: nobody else is told who we are.
    out.certificate = user.certificate;
    out.key = user.key;
    out.token = user.token;
    out.token_file = user.token_file;
    out.token_field = user.token_field;
    if (!out.says_who()) out.plugin = user.plugin;
  }
  if (out.plugin.wants_cluster) out.plugin.cluster = TRY(told_to_plugin(out, cluster));
  if (!cluster.proxy.empty()) {
    out.proxy = TRY(base::within(cluster.place + ".proxy-url", parse_proxy(cluster.proxy)));
  }
  if (!chosen.ns.empty()) out.ns = chosen.ns;
  return out;
}

base::Result<Config> from_kubeconfig(const std::vector<std::filesystem::path>& files, std::string_view context,
                                     const Override& instead) {
  Kubeconfig merged;
  std::vector<std::string> missing;  // As kubectl does, each may be; not all of them.
  for (const auto& path : files) {
    auto text = base::read_file(path);
    if (!text && text.error().fault() == Fault::absent) {
      missing.push_back(path.string());
      continue;
    }
    if (!text) return std::unexpected(text.error());
    merged.merge(TRY(base::within(path.string(), Kubeconfig::parse(*text, path))));
  }
  if (!files.empty() && missing.size() == files.size()) {
    return fail(Fault::absent, fmt::format("{}: no such file; KUBECONFIG or --kubeconfig says where a kubeconfig is",
                                           fmt::join(missing, ", ")));
  }
  return merged.choose(context, instead);
}

}  // namespace kube
