#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/tls.h"
#include "http/url.h"
#include "kube/exec_plugin.h"

namespace kube {

// A PEM text, or the file that holds it, which is read again when it changes.
struct Pem {
  std::string data;
  std::filesystem::path file;  // Counts only when `data` is empty.
  std::string field;           // That told us, for errors: "/path/config: users[jane].client-key".

  bool empty() const { return data.empty() && file.empty(); }
  base::Result<std::string> read() const;
  std::string where() const;  // To look for what is wrong with it; empty: there is no telling.
};

// Whom to be instead of ourselves, as far as the server lets us.
struct Impersonation {
  std::string user;  // Empty: nobody.
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  // Where `more` says something it counts, field by field, as kubectl takes its flags.
  Impersonation with(const Impersonation& more) const;
  bool operator==(const Impersonation&) const = default;
};

// How to reach an API server, and as whom. Never log one: it holds secrets.
struct Config {
  http::Url server;
  Pem ca;
  Pem certificate;
  Pem key;
  std::string tls_server_name;
  bool insecure = false;
  std::optional<http::Url> proxy;

  std::string token;
  std::filesystem::path token_file;  // Wins over `token`; read again when it changes and when the server says 401.
  std::string token_field;           // That named the file, for errors: "/path/config: users[jane].tokenFile".
  ExecPlugin plugin;                 // Gives a token or a certificate; asked only where all of these say nothing.
  Impersonation impersonate;

  std::string ns = "default";

  // By a token or a certificate of its own, so that no plugin is asked: kubectl's order.
  bool says_who() const;
  base::Result<http::TlsOptions> tls() const;
};

// What the environment offers; taken as a value so that a test can make one up.
struct Environment {
  std::string kubeconfig;    // KUBECONFIG: files with ':' between them.
  std::string home;          // HOME
  std::string service_host;  // KUBERNETES_SERVICE_HOST
  std::string service_port;  // KUBERNETES_SERVICE_PORT
  std::string https_proxy;   // HTTPS_PROXY or https_proxy
  std::string no_proxy;      // NO_PROXY or no_proxy
  std::filesystem::path account = "/var/run/secrets/kubernetes.io/serviceaccount";

  static Environment of_process();
};

// The pod's own account.
base::Result<Config> in_cluster(const Environment& environment);

// What counts instead of that which a context names; empty: what it names.
struct Override {
  std::string cluster;
  std::string user;
  Impersonation impersonate{};  // The rest of its own stays, see Impersonation::with().
};

// By what `whose` says, and by flags. An error where that is more about a user than who it is.
base::Result<Impersonation> whom_to_be(const Impersonation& known, const Impersonation& flags, std::string_view whose);

// The files merged as kubectl does it (the first to set a value wins; files that are not there are skipped), and
// the named context of them, or the current one. Errors name the file and the field.
base::Result<Config> from_kubeconfig(const std::vector<std::filesystem::path>& files, std::string_view context,
                                     const Override& instead = {});

// For people's tools, as kubectl: the file given, else KUBECONFIG, else ~/.kube/config, and only without any of these
// the pod's account.
base::Result<Config> load_config(const std::filesystem::path& kubeconfig, std::string_view context,
                                 const Environment& environment, const Override& instead = {});

// For a program that runs by itself. As controller-runtime has it, the pod's account counts before ~/.kube/config. A
// server that is not to be checked is refused, for nobody would read the warning that a person's tool gives.
base::Result<Config> load_service_config(const std::filesystem::path& kubeconfig, const Environment& environment);

}  // namespace kube
