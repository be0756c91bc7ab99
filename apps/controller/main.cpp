// iprule-controller: the cluster's side of the operator. Its flags are those of the old project's manager.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "api/duration.h"
#include "base/log.h"
#include "base/nearest_word.h"
#include "base/version.h"
#include "controller/options.h"
#include "controller/process.h"
#include "kube/config.h"
#include "runtime/memory.h"
#include "runtime/shutdown.h"
#include "settings.h"

namespace {

constexpr int kUsage = 2;

// What the zap logger of the old project takes. Lines have one form of time and no stack traces here; those two flags
// are read so that old command lines work.
struct ZapFlags {
  bool devel = false;
  std::string encoder;
  std::string level;
  std::string stacktrace_level;
  std::string time_encoding;
};

// Read so that old command lines work: there is no webhook, and HTTP/2 is never served.
struct UnusedFlags {
  std::string webhook_cert_path;
  std::string webhook_cert_name;
  std::string webhook_cert_key;
  bool enable_http2 = false;
};

bool is_verbosity(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

std::string check_level(const std::string& text) {
  static const std::vector<std::string> kWords = {"debug", "info", "warning", "error", "panic"};
  if (std::ranges::find(kWords, text) != kWords.end() || is_verbosity(text)) return "";
  return fmt::format("\"{}\" is none of debug, info, warning, error, panic or a number above 0", text);
}

void add_zap_flags(CLI::App& app, ZapFlags& zap) {
  app.add_flag("--zap-devel", zap.devel, "Lines for people, and debug ones too");
  app.add_option("--zap-encoder", zap.encoder, "json, or console: the default on a terminal")
      ->check(CLI::IsMember({"json", "console"}));
  app.add_option("--zap-log-level", zap.level,
                 "debug, info (the default), warning, error, panic, or a number for debug")
      ->check(check_level);
  app.add_option("--zap-stacktrace-level", zap.stacktrace_level, "Accepted, without effect")
      ->check(CLI::IsMember({"info", "error", "panic"}));
  app.add_option("--zap-time-encoding", zap.time_encoding, "Accepted, without effect: times are RFC 3339")
      ->check(CLI::IsMember({"epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"}));
}

void add_flags(CLI::App& app, controller::Options& options) {
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file; without it KUBECONFIG or the pod's account counts");
  app.add_option("--health-probe-bind-address", options.probe_address, "Where /healthz and /readyz answer; 0: nowhere")
      ->capture_default_str();
  app.add_option("--metrics-bind-address", options.metrics_address, "Where /metrics answers; 0: nowhere")
      ->capture_default_str();
  app.add_flag("--metrics-secure", options.metrics_secure,
               "Metrics over HTTPS, for callers with the right to get /metrics")
      ->default_str("true");
  app.add_option("--metrics-cert-path", options.metrics_cert_path,
                 "Folder with the metrics certificate; without it one is made");
  app.add_option("--metrics-cert-name", options.metrics_cert_name, "File of the certificate")->capture_default_str();
  app.add_option("--metrics-cert-key", options.metrics_cert_key, "File of its key")->capture_default_str();
  app.add_option_function<std::string>(
         "--absent-delay",
         [&options](const std::string& text) {
           const auto delay = api::parse_duration(text);
           if (!delay) throw CLI::ValidationError("--absent-delay", delay.error().message());
           options.absent_delay = std::chrono::ceil<std::chrono::milliseconds>(*delay);
         },
         "How long a load balancer address may be away before its rules go; 0s: not at all")
      ->default_str("2s");
  app.add_flag("--leader-elect", options.leader_elect, "Of several controllers let one work");
}

void add_unused_flags(CLI::App& app, UnusedFlags& unused) {
  constexpr const char* kHelp = "Accepted, without effect: there is no webhook";
  app.add_option("--webhook-cert-path", unused.webhook_cert_path, kHelp);
  app.add_option("--webhook-cert-name", unused.webhook_cert_name, kHelp);
  app.add_option("--webhook-cert-key", unused.webhook_cert_key, kHelp);
  app.add_flag("--enable-http2", unused.enable_http2, "Accepted, without effect: HTTP/1.1 is served");
}

void set_up_log(const ZapFlags& zap) {
  using base::log::Level;
  const bool is_console = zap.encoder.empty() ? zap.devel || ::isatty(STDOUT_FILENO) == 1 : zap.encoder == "console";
  base::log::set_style({.logger = "controller",
                        .encoding = is_console ? base::log::Encoding::console : base::log::Encoding::json,
                        .to_stdout = true});
  const std::map<std::string, Level> levels = {{"", zap.devel ? Level::debug : Level::info},
                                               {"debug", Level::debug},
                                               {"info", Level::info},
                                               {"warning", Level::warning},
                                               {"error", Level::error},
                                               {"panic", Level::error}};
  const auto named = levels.find(zap.level);
  base::log::set_level(named != levels.end() ? named->second : Level::debug);
}

// Go programs take -flag for --flag.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out(argv + 1, argv + argc);
  for (std::string& word : out) {
    if (word.size() > 2 && word[0] == '-' && word[1] != '-') word.insert(0, "-");
  }
  return out;
}

void tell_unknown(const CLI::App& app, std::string word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  word = word.substr(0, word.find('='));
  const std::string nearest = base::nearest_word(word, known);
  fmt::print(stderr, "{}: unknown flag \"{}\"{}\n", app.get_name(), word,
             nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest));
}

std::string environment(const char* name) {
  return Settings::of_process()(name).value_or("");
}

// The newest name first. Without any, the release of the agent that belongs to this controller.
std::string agent_image() {
  for (const char* name : {"RELATED_IMAGE_AGENT_IMAGE", "RELATED_IMAGE_IPRULE_AGENT", "AGENT_IMAGE"}) {
    if (auto image = environment(name); !image.empty()) return image;
  }
  return "iprule-agent:v" + std::string(base::version());
}

base::Status run(const controller::Options& options) {
  runtime::Shutdown shutdown;
  const auto config = TRY(kube::load_service_config(options.kubeconfig, kube::Environment::of_process()));
  base::log::info("started", {{"version", base::version_text("iprule-controller")}});
  TRY(controller::run(options, config, shutdown.token()));
  base::log::info("stopped");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  runtime::hold_little_memory();
  controller::Options options;
  options.ns = environment("POD_NAMESPACE");
  options.agent_image = agent_image();
  if (const auto pod = environment("POD_NAME"); !pod.empty()) options.pod = pod;
  ZapFlags zap;
  UnusedFlags unused;
  CLI::App app("Publishes the rules that nodes should have, and runs the agents", "iprule-controller");
  app.set_version_flag("--version", base::version_text("iprule-controller"));
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // As Go's flags do.
  add_flags(app, options);
  add_zap_flags(app, zap);
  add_unused_flags(app, unused);
  Settings settings(app);
  auto words = settings.complete(arguments(argc, argv));
  if (!words) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), words.error().message());
    return kUsage;
  }
  try {
    std::ranges::reverse(*words);  // As the parser takes them.
    app.parse(*words);
  } catch (const CLI::ExtrasError&) {
    const auto rest = app.remaining();
    tell_unknown(app, rest.empty() ? "" : rest.front());
    return kUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (settings.is_page_wanted()) {
    fmt::print("{}", settings.page());
    return 0;
  }

  set_up_log(zap);
  if (const auto done = run(options); !done) {
    base::log::error("cannot run", {{"err", done.error().message()}});
    return 1;
  }
  return 0;
}
