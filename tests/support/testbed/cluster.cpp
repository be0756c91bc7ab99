#include "testbed/cluster.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <ranges>
#include <sys/socket.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/file.h"
#include "kernel/netlink/socket.h"
#include "lab/sandbox.h"
#include "lab/wiring.h"
#include "testbed/kubernetes.h"

namespace testbed {
namespace {

constexpr auto kKubectlBound = std::chrono::seconds(90);

// Of the Service range, the address of the API server itself.
constexpr const char* kServiceRange = "10.96.0.0/16,fd00:10:96::/112";
constexpr const char* kServiceAddress = "10.96.0.1";
constexpr const char* kIssuer = "https://kubernetes.default.svc";  // Of tokens.

constexpr const char* kAuditPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
)";

net::Address address(const std::string& text) {
  return net::Address::parse(text).value();
}

// Each cluster of a program has a bridge and networks of its own.
int next_number() {
  static std::atomic<int> next{0};
  return next++;
}

std::string indent_data(std::string_view name, const std::string& pem) {
  return fmt::format("    {}: {}\n", name, base64(pem));
}

std::string user_entry(const Credentials& credentials) {
  if (!credentials.token.empty()) return fmt::format("    token: {}\n", credentials.token);
  return indent_data("client-certificate-data", credentials.certificate.pem) +
         indent_data("client-key-data", credentials.certificate.key);
}

bool port_is_free(std::uint16_t port) {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

}  // namespace

// Prints the logs' ends when a test that used the cluster has failed.
class Cluster::LogPrinter final : public testing::EmptyTestEventListener {
 public:
  explicit LogPrinter(const Cluster& cluster) : cluster_(cluster) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    for (const Part& part : cluster_.parts_) fmt::print("---- end of {}'s log\n{}", part.name(), part.log_tail());
    fmt::print("---- end of logs\n");
    std::fflush(stdout);
  }

 private:
  const Cluster& cluster_;
};

std::uint16_t free_port() {
  static std::atomic<std::uint16_t> next{20000};
  std::uint16_t port = next++;
  while (!port_is_free(port)) port = next++;
  return port;
}

Cluster::Cluster(std::filesystem::path program)
    : program_(std::move(program)), authority_("testbed"), etcd_port_(free_port()), api_port_(free_port()) {
  const int number = next_number();
  bridge_ = fmt::format("cluster{}", number);
  address_ = testbed::address(fmt::format("172.30.{}.1", 77 + number));
  address6_ = testbed::address(fmt::format("fd00:172:30:{}::1", 77 + number));
}

Cluster::~Cluster() {
  if (printer_ != nullptr) delete testing::UnitTest::GetInstance()->listeners().Release(printer_);
  // From the last to the first, and all before the bridge: a server must not look for its peers elsewhere.
  while (!parts_.empty()) parts_.pop_back();
  if (auto rtnl = kernel::Socket::open(kernel::Bus::route)) (void)lab::remove_link(*rtnl, bridge_);
}

base::Result<std::unique_ptr<Cluster>> Cluster::start(ClusterOptions options) {
  if (!lab::in_sandbox())
    return base::fail(base::Fault::denied, "a cluster runs only in the sandbox: link the test with testbed_main");
  std::unique_ptr<Cluster> cluster(new Cluster(TRY(kubernetes_program())));
  TRY(cluster->lay_bridge());
  TRY(cluster->write_files());

  Part& etcd = cluster->add_etcd();
  Part& api_server = cluster->add_api_server_part("kube-apiserver", cluster->api_port_, options.api_server_flags);
  TRY(etcd.start());
  TRY(api_server.start());  // It waits for etcd by itself.
  TRY(api_server.wait_ready());
  if (options.controller_manager) TRY(cluster->add_controller_manager(options.controller_manager_flags).restart());
  if (options.scheduler) TRY(cluster->add_scheduler().restart());

  cluster->printer_ = new LogPrinter(*cluster);
  testing::UnitTest::GetInstance()->listeners().Append(cluster->printer_);
  return cluster;
}

base::Status Cluster::lay_bridge() {
  kernel::Socket rtnl = TRY(kernel::Socket::open(kernel::Bus::route));
  TRY(lab::require_no_default_route(rtnl));
  TRY(lab::add_bridge(rtnl, bridge_));
  TRY(lab::set_up(rtnl, bridge_));
  TRY(lab::add_address(rtnl, bridge_, {.address = address_, .length = 24}));
  return lab::add_address(rtnl, bridge_, {.address = address6_, .length = 64});
}

base::Status Cluster::write_files() {
  const Certificate server = authority_.server(
      "kube-apiserver",
      {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
       "kubernetes.default.svc.cluster.local"},
      {testbed::address("127.0.0.1"), testbed::address("::1"), address_, address6_, testbed::address(kServiceAddress)});
  const KeyPair tokens = make_keys();
  const Credentials admin = user("admin", {"system:masters"});
  TRY(base::write_file(file("ca.crt"), authority_.certificate()));
  TRY(base::write_file(file("server.crt"), server.pem));
  TRY(base::write_file(file("server.key"), server.key));
  TRY(base::write_file(file("admin.pem"), admin.certificate.pem + admin.certificate.key));
  TRY(base::write_file(file("service-accounts.key"), tokens.key));
  TRY(base::write_file(file("service-accounts.pub"), tokens.public_key));
  TRY(base::write_file(file("audit-policy.yaml"), kAuditPolicy));
  admin_kubeconfig_ = kubeconfig(admin);
  return {};
}

Part& Cluster::part(std::string_view name) {
  return *std::ranges::find(parts_, name, &Part::name);
}

Part& Cluster::add_part(std::string name, std::vector<std::string> flags, std::function<bool()> ready) {
  const std::string program = name.starts_with("kube-apiserver") ? "kube-apiserver" : name;
  std::vector<std::string> arguments{program_.native(), program};
  std::ranges::move(flags, std::back_inserter(arguments));
  Command command{.arguments = std::move(arguments), .log = folder_ / (name + ".log")};
  return parts_.emplace_back(std::move(name), std::move(command), std::move(ready));
}

Part& Cluster::add_etcd() {
  const std::string clients = fmt::format("http://127.0.0.1:{}", etcd_port_);
  const std::string peers = fmt::format("http://127.0.0.1:{}", free_port());
  return add_part(
      "etcd",
      {"--data-dir=" + file("etcd"), "--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
       "--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers, "--initial-cluster=default=" + peers,
       "--unsafe-no-fsync", "--log-level=warn"},
      [this] {
        const auto health = ask({.port = etcd_port_}, "/health");
        return health && health->status == 200;
      });
}

Part& Cluster::add_api_server_part(std::string name, std::uint16_t port, const std::vector<std::string>& more_flags) {
  std::vector<std::string> flags{
      fmt::format("--etcd-servers=http://127.0.0.1:{}", etcd_port_),
      fmt::format("--secure-port={}", port),
      "--bind-address=0.0.0.0",  // In Kubernetes' reading: every address, IPv6 too.
      "--advertise-address=" + address_.text(),
      "--tls-cert-file=" + file("server.crt"),
      "--tls-private-key-file=" + file("server.key"),
      "--client-ca-file=" + file("ca.crt"),
      "--anonymous-auth=false",
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      fmt::format("--service-account-issuer={}", kIssuer),
      "--service-account-key-file=" + file("service-accounts.pub"),
      "--service-account-signing-key-file=" + file("service-accounts.key"),
      fmt::format("--service-cluster-ip-range={}", kServiceRange),
      "--allow-privileged=true",
      "--kubelet-client-certificate=" +
          file("admin.pem"),  // For exec and logs; each file has both, and Go takes its own.
      "--kubelet-client-key=" + file("admin.pem"),
      "--kubelet-preferred-address-types=InternalIP",
      "--enable-aggregator-routing=true",
      "--audit-policy-file=" + file("audit-policy.yaml"),
      "--audit-log-path=" + audit_log().native(),
      "--profiling=false",
  };
  std::ranges::copy(more_flags, std::back_inserter(flags));
  return add_part(std::move(name), std::move(flags), [this, port] { return api_ready(port); });
}

Part& Cluster::add_controller_manager(const std::vector<std::string>& more_flags) {
  const std::uint16_t port = free_port();
  const std::string access = admin_kubeconfig_.native();
  std::vector<std::string> flags{"--kubeconfig=" + access,
                                 "--authentication-kubeconfig=" + access,
                                 "--authorization-kubeconfig=" + access,
                                 fmt::format("--secure-port={}", port),
                                 "--bind-address=127.0.0.1",
                                 "--tls-cert-file=" + file("server.crt"),
                                 "--tls-private-key-file=" + file("server.key"),
                                 "--service-account-private-key-file=" + file("service-accounts.key"),
                                 "--root-ca-file=" + file("ca.crt"),
                                 "--use-service-account-credentials",
                                 "--leader-elect=false",
                                 "--node-monitor-period=1s",
                                 "--node-monitor-grace-period=8s"};
  std::ranges::copy(more_flags, std::back_inserter(flags));
  return add_part("kube-controller-manager", std::move(flags), [this, port] {
    const auto health = ask(endpoint_of(port), "/healthz");
    return health && health->status == 200;
  });
}

Part& Cluster::add_scheduler() {
  const std::uint16_t port = free_port();
  const std::string access = admin_kubeconfig_.native();
  return add_part(
      "kube-scheduler",
      {"--kubeconfig=" + access, "--authentication-kubeconfig=" + access, "--authorization-kubeconfig=" + access,
       fmt::format("--secure-port={}", port), "--bind-address=127.0.0.1", "--tls-cert-file=" + file("server.crt"),
       "--tls-private-key-file=" + file("server.key"), "--leader-elect=false"},
      [this, port] {
        const auto health = ask(endpoint_of(port), "/healthz");
        return health && health->status == 200;
      });
}

Endpoint Cluster::endpoint_of(std::uint16_t port) const {
  return {.port = port, .authority = folder_ / "ca.crt", .certificate = folder_ / "admin.pem"};
}

std::string Cluster::url_of(std::uint16_t port) const {
  return fmt::format("https://{}:{}", address_.text(), port);
}

// Ready, and the namespace that tests use is there, which the server makes a moment later.
bool Cluster::api_ready(std::uint16_t port) const {
  return std::ranges::all_of(std::array{"/readyz", "/api/v1/namespaces/default"}, [&](const char* path) {
    const auto answer = ask(endpoint_of(port), path);
    return answer && answer->status == 200;
  });
}

Credentials Cluster::user(std::string_view name, const std::vector<std::string>& groups) const {
  return {.certificate = authority_.client(name, groups)};
}

base::Result<Credentials> Cluster::service_account(const std::string& name_space, const std::string& name,
                                                   const std::string& bound_pod) {
  std::vector<std::string> arguments{"create", "token", name, "--namespace=" + name_space};
  if (!bound_pod.empty()) {
    arguments.emplace_back("--bound-object-kind=Pod");
    arguments.emplace_back("--bound-object-name=" + bound_pod);
  }
  std::string token = TRY(kubectl(std::move(arguments)));
  while (token.ends_with('\n')) token.pop_back();
  return Credentials{.token = std::move(token)};
}

base::Result<Credentials> Cluster::service_account_for(const std::string& name_space, const std::string& name,
                                                       std::chrono::seconds lifetime) {
  constexpr auto kLeeway = std::chrono::minutes(1);
  const std::string uid =
      TRY(kubectl({"get", "serviceaccount", name, "--namespace=" + name_space, "-o", "jsonpath={.metadata.uid}"}));
  const std::string key = TRY(base::read_file(file("service-accounts.key")));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch();
  const std::string claims =
      fmt::format(R"({{"iss":"{0}","aud":["{0}"],"sub":"system:serviceaccount:{1}:{2}","iat":{3},"exp":{4},)"
                  R"("kubernetes.io":{{"namespace":"{1}","serviceaccount":{{"name":"{2}","uid":"{5}"}}}}}})",
                  kIssuer, name_space, name, (now - kLeeway).count(), (now + lifetime - kLeeway).count(), uid);
  return Credentials{.token = web_token(claims, key)};
}

std::filesystem::path Cluster::kubeconfig(const Credentials& credentials, std::string url) {
  const std::string text = fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: testbed\n"
      "clusters:\n- name: testbed\n  cluster:\n    server: {}\n{}"
      "users:\n- name: testbed\n  user:\n{}"
      "contexts:\n- name: testbed\n  context:\n    cluster: testbed\n    user: testbed\n",
      url.empty() ? this->url() : url, indent_data("certificate-authority-data", authority_.certificate()),
      user_entry(credentials));
  std::filesystem::path path = folder_ / fmt::format("kubeconfig{}", kubeconfigs_++);
  if (const auto written = base::write_file(path, text); !written) ADD_FAILURE() << written.error().message();
  return path;
}

base::Result<std::string> Cluster::kubectl(std::vector<std::string> arguments, std::string input,
                                           const std::filesystem::path& kubeconfig) {
  const std::filesystem::path& access = kubeconfig.empty() ? admin_kubeconfig_ : kubeconfig;
  arguments.insert(arguments.begin(), {program_.native(), "kubectl", "--kubeconfig=" + access.native(),
                                       "--cache-dir=" + file("kubectl-cache")});
  Finished done = TRY(run({.arguments = std::move(arguments), .input = std::move(input)}, kKubectlBound));
  if (!done.exit.ok()) return base::fail(base::Fault::invalid, fmt::format("kubectl: {}", done.errors));
  return std::move(done.output);
}

base::Result<Cluster::SecondApiServer> Cluster::add_api_server(std::uint16_t etcd_port) {
  const std::uint16_t port = free_port();
  std::vector<std::string> flags;  // Of a flag given twice, the last counts.
  if (etcd_port != 0) flags.push_back(fmt::format("--etcd-servers=http://127.0.0.1:{}", etcd_port));
  Part& part = add_api_server_part(fmt::format("kube-apiserver-{}", port), port, flags);
  TRY(part.restart());
  return SecondApiServer{.part = &part, .url = url_of(port), .port = port};
}

base::Status Cluster::compact() {
  // etcd's JSON gateway; any read tells the current revision.
  const Answer now = TRY(ask({.port = etcd_port_}, "/v3/kv/range", R"({"key":"AA=="})"));
  constexpr std::string_view kRevision = R"("revision":")";
  const std::size_t at = now.body.find(kRevision);
  if (at == std::string::npos) return base::fail(base::Fault::unavailable, "etcd: " + now.body);
  const std::size_t from = at + kRevision.size();
  const std::string revision = now.body.substr(from, now.body.find('"', from) - from);
  const Answer done = TRY(
      ask({.port = etcd_port_}, "/v3/kv/compaction", fmt::format(R"({{"revision":"{}","physical":true}})", revision)));
  if (done.status != 200) return base::fail(base::Fault::unavailable, "etcd: " + done.body);
  return {};
}

base::Status Cluster::save_storage() {
  etcd().kill();
  std::error_code failed;
  std::filesystem::copy(folder_ / "etcd", folder_ / "etcd-saved", std::filesystem::copy_options::recursive, failed);
  if (failed) return base::fail(base::Fault::unavailable, "save etcd: " + failed.message());
  TRY(etcd().restart());
  return api_server().restart();
}

base::Status Cluster::restore_storage() {
  api_server().kill();
  etcd().kill();
  std::error_code failed;
  std::filesystem::remove_all(folder_ / "etcd", failed);
  if (!failed) std::filesystem::rename(folder_ / "etcd-saved", folder_ / "etcd", failed);
  if (failed) return base::fail(base::Fault::unavailable, "restore etcd: " + failed.message());
  TRY(etcd().restart());
  return api_server().restart();
}

Cluster& shared_cluster() {
  static const std::unique_ptr<Cluster> cluster = [] {
    auto started = Cluster::start();
    if (started) return *std::move(started);
    fmt::print(stderr, "no cluster for the tests: {}\n", started.error().message());
    std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe)
  }();
  return *cluster;
}

}  // namespace testbed
