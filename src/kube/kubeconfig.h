#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/config.h"

namespace kube {

// The contents of kubeconfig files, before a context is chosen.
struct Kubeconfig {
  struct Cluster {
    std::string server;
    Pem ca;
    std::string tls_server_name;
    bool insecure = false;
    std::string proxy;
    std::string told_to_plugins;  // JSON that the cluster's extension has for them; empty: none.
    std::string place;            // For errors: "/path/config: clusters[main]".
  };
  struct User {
    Pem certificate;
    Pem key;
    std::string token;
    std::filesystem::path token_file;
    std::string token_field;
    ExecPlugin plugin;
    Impersonation impersonate;
    std::string unusable;  // Why nobody can log in so, with file and field; an error only if this user is chosen.
  };
  struct Context {
    std::string cluster;
    std::string user;
    std::string ns;
  };

  std::map<std::string, Cluster> clusters;
  std::map<std::string, User> users;
  std::map<std::string, Context> contexts;
  std::string current_context;

  // YAML or JSON; relative file names in it are taken from the folder of `file`, which is not read.
  static base::Result<Kubeconfig> parse(std::string_view text, const std::filesystem::path& file);

  void merge(Kubeconfig later);  // What is here already stays.
  // Empty: the current one.
  base::Result<Config> choose(std::string_view context, const Override& instead = {}) const;
};

}  // namespace kube
