#include "kube/config.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"
#include "kube/proxy.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start, nobody sets any.
  return value == nullptr ? "" : value;
}

std::string without_blanks_around(std::string text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::filesystem::path> split_list(std::string_view list) {
  std::vector<std::filesystem::path> out;
  while (!list.empty()) {
    const auto colon = std::min(list.find(':'), list.size());
    if (colon > 0) out.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return out;
}

}  // namespace

base::Result<std::string> Pem::read() const {
  if (!data.empty() || file.empty()) return data;
  return base::read_file(file);
}

std::string Pem::where() const {
  if (!data.empty() || file.empty()) return field;
  return field.empty() ? file.string() : fmt::format("{}: {}", field, file.string());
}

Impersonation Impersonation::with(const Impersonation& more) const {
  Impersonation out = *this;
  if (!more.user.empty()) out.user = more.user;
  if (!more.uid.empty()) out.uid = more.uid;
  if (!more.groups.empty()) out.groups = more.groups;
  for (const auto& [key, values] : more.extra) out.extra[key] = values;
  return out;
}

bool Config::says_who() const {
  return !token.empty() || !token_file.empty() || (!certificate.empty() && !key.empty());
}

base::Result<http::TlsOptions> Config::tls() const {
  const auto read = [](const Pem& pem, std::string_view otherwise) {
    return base::within(pem.field.empty() ? otherwise : pem.field, pem.read());
  };
  http::TlsOptions options;
  options.ca = TRY(read(ca, "certificate authority"));
  options.certificate = TRY(read(certificate, "client certificate"));
  options.key = TRY(read(key, "client key"));
  options.places = {.ca = ca.where(), .certificate = certificate.where(), .key = key.where()};
  options.server_name = tls_server_name;
  options.insecure = insecure;
  return options;
}

base::Result<Impersonation> whom_to_be(const Impersonation& known, const Impersonation& flags, std::string_view whose) {
  Impersonation out = known.with(flags);
  if (!out.user.empty() || out == Impersonation()) return out;
  if (flags != Impersonation()) return fail(Fault::invalid, "--as-group: no user to be; --as names one");
  // As kubectl: who else would be meant?
  return fail(Fault::invalid, fmt::format("{}: as-uid, as-groups and as-user-extra need as: whom to be", whose));
}

Environment Environment::of_process() {
  Environment out;
  out.kubeconfig = variable("KUBECONFIG");
  out.home = variable("HOME");
  out.service_host = variable("KUBERNETES_SERVICE_HOST");
  out.service_port = variable("KUBERNETES_SERVICE_PORT");
  out.https_proxy = variable("HTTPS_PROXY").empty() ? variable("https_proxy") : variable("HTTPS_PROXY");
  out.no_proxy = variable("NO_PROXY").empty() ? variable("no_proxy") : variable("NO_PROXY");
  return out;
}

base::Result<Config> in_cluster(const Environment& environment) {
  if (environment.service_host.empty() || environment.service_port.empty()) {
    return fail(Fault::absent, "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const bool is_v6 = environment.service_host.find(':') != std::string::npos;
  Config config;
  config.server = TRY(http::Url::parse(fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", environment.service_host,
                                                   is_v6 ? "]" : "", environment.service_port)));
  config.ca.file = environment.account / "ca.crt";
  config.token_file = environment.account / "token";
  config.token_field = "service account token";
  (void)TRY(base::within(config.token_field, base::read_file(config.token_file)));  // Only that it is there.
  if (auto name = base::read_file(environment.account / "namespace")) {
    config.ns = without_blanks_around(*std::move(name));
  }
  return config;
}

namespace {

// In a pod without a kubeconfig that is named: whose word counts first.
enum class First { account, home };

base::Result<Config> find_config(const std::filesystem::path& kubeconfig, std::string_view context,
                                 const Environment& environment, First first, const Override& instead) {
  if (!kubeconfig.empty()) {
    std::error_code unseen;  // What we may not look at cannot be read either, and that says why.
    if (!std::filesystem::exists(kubeconfig, unseen) && !unseen) {
      return fail(Fault::absent, fmt::format("{}: no such file", kubeconfig.string()));
    }
    return from_kubeconfig({kubeconfig}, context, instead);
  }
  if (!environment.kubeconfig.empty()) return from_kubeconfig(split_list(environment.kubeconfig), context, instead);
  const auto at_home = std::filesystem::path(environment.home) / ".kube" / "config";
  std::error_code ignored;  // What we may not look at is none of ours.
  const bool is_account_meant = first == First::account || !std::filesystem::exists(at_home, ignored);
  if (!environment.service_host.empty() && is_account_meant) {
    Config config = TRY(in_cluster(environment));
    config.impersonate = TRY(whom_to_be({}, instead.impersonate, "the pod's account"));
    return config;
  }
  return from_kubeconfig({at_home}, context, instead);
}

base::Status take_proxy(Config& config, const Environment& environment) {
  if (config.proxy) return {};  // The kubeconfig's own proxy wins.
  config.proxy =
      TRY(base::within("HTTPS_PROXY", proxy_for(config.server, environment.https_proxy, environment.no_proxy)));
  return {};
}

}  // namespace

base::Result<Config> load_config(const std::filesystem::path& kubeconfig, std::string_view context,
                                 const Environment& environment, const Override& instead) {
  Config config = TRY(find_config(kubeconfig, context, environment, First::home, instead));
  TRY(take_proxy(config, environment));
  return config;
}

base::Result<Config> load_service_config(const std::filesystem::path& kubeconfig, const Environment& environment) {
  Config config = TRY(find_config(kubeconfig, "", environment, First::account, {}));
  TRY(take_proxy(config, environment));
  if (config.insecure) {
    return fail(Fault::invalid,
                fmt::format("{}: insecure-skip-tls-verify is for people's tools only; name the server's "
                            "certificate-authority instead, and tls-server-name where its certificate is for another "
                            "name",
                            config.server.text()));
  }
  return config;
}

}  // namespace kube
