// raw_reader KUBECONFIG EVENTS: reads the watch of all Services from a TLS connection of its own, by one thread that
// blocks, and finds the instant in each change; it decodes nothing and keeps nothing. So it says what an event costs
// whoever follows it, before anything is done about it: the limit beside `follower` and its peer.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <openssl/ssl.h>

#include "base/fd.h"
#include "bench/processor_time.h"
#include "http/resolve.h"
#include "http/tls.h"
#include "kube/config.h"

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Connection {
  base::Fd socket;
  http::TlsContext tls;
  http::TlsContext::Ssl ssl;
};

base::Result<Connection> connect(const kube::Config& config) {
  Connection out;
  http::Resolution resolution(config.server.host, config.server.port);
  if (!resolution.done()) return base::fail(base::Fault::invalid, "the server's URL must hold an address");
  const auto addresses = TRY(resolution.take());
  const http::SocketAddress& address = addresses.front();
  out.socket = base::Fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(out.socket.get(), address.get(), address.size) != 0) return base::fail_errno("connect", errno);
  auto options = TRY(config.tls());
  options.only_http1 = true;  // A body without frames of its own, but for chunks, which have no meaning here.
  out.tls = TRY(http::TlsContext::load(options));
  out.ssl = TRY(out.tls.connect(out.socket.get(), config.server.host));
  if (SSL_do_handshake(out.ssl.get()) != 1) return base::fail(base::Fault::unavailable, http::tls_error("handshake"));
  return out;
}

// The instants in what has been read so far; a piece that a read has cut waits for its rest.
class Instants {
 public:
  template <typename Tell>
  void feed(std::string_view bytes, Tell tell) {
    constexpr std::string_view kStamp = R"("bench/at":")";
    rest_ += bytes;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = rest_.find(kStamp, from)) != std::string::npos;) {
      const std::size_t end = rest_.find('"', at + kStamp.size());
      if (end == std::string::npos) break;
      tell(std::chrono::nanoseconds(std::strtoll(rest_.c_str() + at + kStamp.size(), nullptr, 10)));
      from = end;
    }
    constexpr std::size_t kLongest = 64;  // Of a stamp with its number.
    rest_.erase(0, std::max(from, rest_.size() - std::min(rest_.size(), kLongest)));
  }

 private:
  std::string rest_;
};

base::Status follow(const std::string& kubeconfig, std::size_t events) {
  const auto config = TRY(kube::load_config(kubeconfig, "", {}));
  const Connection connection = TRY(connect(config));
  const std::string request =
      fmt::format("GET /api/v1/services?watch=1&timeoutSeconds=600 HTTP/1.1\r\nHost: {}\r\n\r\n", config.server.host);
  if (SSL_write(connection.ssl.get(), request.data(), static_cast<int>(request.size())) <= 0) {
    return base::fail(base::Fault::unavailable, http::tls_error("write"));
  }
  fmt::print("processor {}\n", bench::own_processor_milliseconds());
  std::fflush(stdout);

  std::array<char, 64U << 10U> buffer;
  Instants instants;
  std::vector<double> latencies;
  double before = 0;
  while (latencies.size() < events) {
    const int size = SSL_read(connection.ssl.get(), buffer.data(), buffer.size());
    if (size <= 0) return base::fail(base::Fault::unavailable, http::tls_error("the watch has ended"));
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    if (latencies.empty()) before = bench::own_processor_milliseconds();  // Before that, it is what was there already.
    instants.feed({buffer.data(), static_cast<std::size_t>(size)},
                  [&](std::chrono::nanoseconds at) { latencies.push_back(Milliseconds(now - at).count()); });
  }
  const double used = bench::own_processor_milliseconds() - before;
  std::ranges::sort(latencies);
  fmt::print("events {} {} {}\n", latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100],
             used / static_cast<double>(latencies.size()));
  std::fflush(stdout);
  (void)::pause();
  return {};
}

}  // namespace

int main(int count, char** argv) {
  if (count != 3) {
    fmt::print(stderr, "usage: raw_reader KUBECONFIG EVENTS\n");
    return 2;
  }
  const auto done = follow(argv[1], std::strtoull(argv[2], nullptr, 10));
  if (!done) fmt::print(stderr, "raw_reader: {}\n", done.error().message());
  return done ? 0 : 1;
}
