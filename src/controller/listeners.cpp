#include "controller/listeners.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "http/listen_address.h"
#include "http/probe.h"
#include "http/server_certificate.h"

namespace controller {
namespace {

using Certificate = http::ServerCertificate::Shared;

bool is_off(std::string_view address) {
  return address.empty() || address == "0";
}

base::Result<std::jthread> serve(std::string_view flag, const std::string& address, http::Routes routes,
                                 Certificate certificate = {}) {
  const auto where = TRY(base::within(flag, http::ListenAddress::parse(address)));
  auto server = TRY(base::within(flag, http::Server::listen(where, std::move(routes), std::move(certificate))));
  base::log::info("listening", {{"for", std::string(flag)}, {"port", server.port()}});
  return std::jthread([server = std::move(server)](std::stop_token stop) mutable { server.serve(std::move(stop)); });
}

http::Routes probes(const Views& views) {
  http::Routes routes;
  routes.add("/healthz", http::probe(views.live, "ok"));
  routes.add("/readyz", http::probe(views.ready, "ok"));
  return routes;
}

http::Handler metrics_text(metrics::Registry& registry) {
  return [&registry](const http::Request&) {
    return http::Response{.status = 200,
                          .headers = {{"content-type", std::string(metrics::Registry::kContentType)}},
                          .body = registry.text()};
  };
}

base::Result<Certificate> metrics_certificate(const Options& options) {
  if (options.metrics_cert_path.empty()) return http::ServerCertificate::self_signed({"localhost"});
  return base::within("--metrics-cert-path", http::ServerCertificate::from_files(
                                                 {.certificate = options.metrics_cert_path / options.metrics_cert_name,
                                                  .key = options.metrics_cert_path / options.metrics_cert_key}));
}

base::Result<std::jthread> serve_metrics(const Options& options, const Views& views) {
  constexpr std::string_view kFlag = "--metrics-bind-address";
  http::Routes routes;
  if (!options.metrics_secure) {
    routes.add("/metrics", metrics_text(views.metrics));
    return serve(kFlag, options.metrics_address, std::move(routes));
  }
  auto certificate = TRY(metrics_certificate(options));
  views.metrics.before_text(
      [certificate, expiry = views.metrics.gauge("iprule_operator_metrics_certificate_expiry_timestamp_seconds",
                                                 "When the certificate of /metrics ends.")] {
        expiry.set(static_cast<double>(certificate->not_after().time_since_epoch().count()));
      });
  routes.add("/metrics", views.authorizer.protect(metrics_text(views.metrics)));
  return serve(kFlag, options.metrics_address, std::move(routes), std::move(certificate));
}

}  // namespace

base::Result<Listeners> Listeners::open(const Options& options, const Views& views) {
  std::vector<std::jthread> threads;
  if (!is_off(options.probe_address)) {
    threads.push_back(TRY(serve("--health-probe-bind-address", options.probe_address, probes(views))));
  }
  if (!is_off(options.metrics_address)) {
    threads.push_back(TRY(serve_metrics(options, views)));
    // In these words, after this name and a tab: scripts made for the old project's controller wait for this line.
    base::log::info("controller-runtime.metrics\tServing metrics server", {{"bindAddress", options.metrics_address}});
  }
  return Listeners(std::move(threads));
}

}  // namespace controller
