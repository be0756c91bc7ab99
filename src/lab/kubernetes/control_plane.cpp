#include "lab/kubernetes/control_plane.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "base/file.h"
#include "kernel/netlink/socket.h"
#include "lab/free_port.h"
#include "lab/sandbox.h"
#include "lab/wiring.h"

namespace lab {
namespace {

constexpr auto kKubectlBound = std::chrono::seconds(90);

// Of the Service range, the address of the API server itself.
constexpr const char* kServiceRange = "10.96.0.0/16,fd00:10:96::/112";
constexpr const char* kServiceAddress = "10.96.0.1";

constexpr const char* kAuditPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
)";

net::Address parse(const std::string& text) {
  return net::Address::parse(text).value();  // Only for the addresses written below.
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

}  // namespace

ControlPlane::ControlPlane(std::filesystem::path program)
    : program_(std::move(program)), authority_("cluster"), etcd_port_(free_port()), api_port_(free_port()) {
  const int number = next_number();
  bridge_ = fmt::format("cluster{}", number);
  address_ = parse(fmt::format("172.30.{}.1", 77 + number));
  address6_ = parse(fmt::format("fd00:172:30:{}::1", 77 + number));
}

ControlPlane::~ControlPlane() {
  // From the last to the first, and all before the bridge: a server must not look for its peers elsewhere.
  while (!parts_.empty()) parts_.pop_back();
  if (!bridge_laid_) return;  // A link of that name is somebody else's.
  if (auto rtnl = kernel::Socket::open(kernel::Bus::route)) (void)remove_link(*rtnl, bridge_);
}

base::Result<std::unique_ptr<ControlPlane>> ControlPlane::start(std::filesystem::path program) {
  std::unique_ptr<ControlPlane> plane(new ControlPlane(std::move(program)));
  TRY(plane->begin({}));
  return plane;
}

base::Status ControlPlane::begin(const std::vector<std::string>& api_server_flags) {
  if (!in_sandbox()) return base::fail(base::Fault::denied, "a control plane runs only inside the sandbox");
  TRY(lay_bridge());
  TRY(write_files());
  Part& etcd = add_etcd();
  Part& api_server = add_api_server_part("kube-apiserver", api_port_, api_server_flags);
  TRY(etcd.start());
  TRY(api_server.start());  // It waits for etcd by itself.
  return api_server.wait_ready();
}

base::Status ControlPlane::lay_bridge() {
  kernel::Socket rtnl = TRY(kernel::Socket::open(kernel::Bus::route));
  TRY(require_no_default_route(rtnl));
  TRY(add_bridge(rtnl, bridge_));
  bridge_laid_ = true;
  TRY(set_up(rtnl, bridge_));
  TRY(add_address(rtnl, bridge_, {.address = address_, .length = 24}));
  return add_address(rtnl, bridge_, {.address = address6_, .length = 64});
}

base::Status ControlPlane::write_files() {
  const Certificate server =
      authority_.server("kube-apiserver",
                        {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                         "kubernetes.default.svc.cluster.local"},
                        {parse("127.0.0.1"), parse("::1"), address_, address6_, parse(kServiceAddress)});
  const KeyPair tokens = make_keys();
  const Credentials admin = user("admin", {"system:masters"});
  TRY(base::write_file(file("ca.crt"), authority_.certificate()));
  TRY(base::write_file(file("server.crt"), server.pem));
  TRY(base::write_file(file("server.key"), server.key));
  TRY(base::write_file(file("admin.pem"), admin.certificate.pem + admin.certificate.key));
  TRY(base::write_file(file("service-accounts.key"), tokens.key));
  TRY(base::write_file(file("service-accounts.pub"), tokens.public_key));
  TRY(base::write_file(file("audit-policy.yaml"), kAuditPolicy));
  admin_kubeconfig_ = TRY(write_kubeconfig(admin));
  return {};
}

Part& ControlPlane::part(std::string_view name) {
  return *std::ranges::find(parts_, name, &Part::name);
}

Part& ControlPlane::add_part(std::string name, std::vector<std::string> flags, std::function<bool()> ready) {
  const std::string program = name.starts_with("kube-apiserver") ? "kube-apiserver" : name;
  std::vector<std::string> arguments{program_.native(), program};
  std::ranges::move(flags, std::back_inserter(arguments));
  Command command{.arguments = std::move(arguments), .log = folder_ / (name + ".log")};
  return parts_.emplace_back(std::move(name), std::move(command), std::move(ready));
}

Part& ControlPlane::add_etcd() {
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

Part& ControlPlane::add_api_server_part(std::string name, std::uint16_t port,
                                        const std::vector<std::string>& more_flags) {
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

Endpoint ControlPlane::endpoint_of(std::uint16_t port) const {
  return {.port = port, .authority = folder_ / "ca.crt", .certificate = folder_ / "admin.pem"};
}

std::string ControlPlane::url_of(std::uint16_t port) const {
  return fmt::format("https://{}:{}", address_.text(), port);
}

// Ready, and the namespace that is always used is there, which the server makes a moment later.
bool ControlPlane::api_ready(std::uint16_t port) const {
  return std::ranges::all_of(std::array{"/readyz", "/api/v1/namespaces/default"}, [&](const char* path) {
    const auto answer = ask(endpoint_of(port), path);
    return answer && answer->status == 200;
  });
}

Credentials ControlPlane::user(std::string_view name, const std::vector<std::string>& groups) const {
  return {.certificate = authority_.client(name, groups)};
}

base::Result<Credentials> ControlPlane::service_account(const std::string& name_space, const std::string& name,
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

base::Result<std::filesystem::path> ControlPlane::write_kubeconfig(const Credentials& credentials, std::string url) {
  const std::string text = fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: cluster\n"
      "clusters:\n- name: cluster\n  cluster:\n    server: {}\n{}"
      "users:\n- name: cluster\n  user:\n{}"
      "contexts:\n- name: cluster\n  context:\n    cluster: cluster\n    user: cluster\n",
      url.empty() ? this->url() : url, indent_data("certificate-authority-data", authority_.certificate()),
      user_entry(credentials));
  std::filesystem::path path = folder_ / fmt::format("kubeconfig{}", kubeconfigs_++);
  TRY(base::write_file(path, text));
  return path;
}

base::Result<std::string> ControlPlane::kubectl(std::vector<std::string> arguments, std::string input,
                                                const std::filesystem::path& kubeconfig) {
  const std::filesystem::path& access = kubeconfig.empty() ? admin_kubeconfig_ : kubeconfig;
  arguments.insert(arguments.begin(), {program_.native(), "kubectl", "--kubeconfig=" + access.native(),
                                       "--cache-dir=" + file("kubectl-cache")});
  Finished done = TRY(run({.arguments = std::move(arguments), .input = std::move(input)}, kKubectlBound));
  if (!done.exit.ok()) return base::fail(base::Fault::unavailable, fmt::format("kubectl: {}", done.errors));
  return std::move(done.output);
}

}  // namespace lab
