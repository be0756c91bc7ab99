#pragma once

#include <chrono>
#include <compare>
#include <filesystem>
#include <list>
#include <map>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "http/client.h"
#include "http/scripted_server_test.h"
#include "runtime/guarded.h"
#include "testbed/temp_folder.h"

namespace testbed {

// What a request asks of Kubernetes, read from its method and path.
struct ApiCall {
  std::string verb;      // get, list, watch, create, update, patch, delete; or the method, for other paths.
  std::string resource;  // "services", "leases", "nodestates/status"; empty for other paths.
  std::string ns;
  std::string name;

  auto operator<=>(const ApiCall&) const = default;
};
ApiCall describe(const http::Request& request);

// Which calls; what is empty matches all.
struct CallMatch {
  std::string verb = {};
  std::string resource = {};
  std::string name = {};

  bool matches(const ApiCall& call) const;
};

// What happens to a call instead of the usual.
namespace fault {
struct None {};
struct Delay {
  base::Duration time;
};
struct Hold {};        // Forwarded at the next release().
struct Drop {};        // Not forwarded, never answered.
struct Cut {};         // Not forwarded; the connection breaks, and with it all else on it.
struct LoseAnswer {};  // The server does it; the connection breaks before the client hears.
struct Answer {        // Not forwarded; the proxy answers.
  int status;
  std::string body;
  http::Headers headers = {};
};
struct Freeze {  // A watch: after so many events nothing more comes, and the stream stays open.
  int after_events = 0;
};
struct Lag {  // A watch: every event comes so much later.
  base::Duration time;
};
struct Duplicate {};  // A watch: every event twice.
struct Reorder {};    // A watch: of two events about different objects the later comes first.
struct Omit {         // A watch: events of this type ("DELETED") never come.
  std::string type;
};
struct ReplayList {};  // A list: the first answer to this path that the proxy has seen, however old.
struct KillBefore {    // The client dies; the server never sees the call.
  pid_t client;
};
struct KillAfter {  // The server has done it; then the client dies, without the answer.
  pid_t client;
};
}  // namespace fault
using Fault = std::variant<fault::None, fault::Delay, fault::Hold, fault::Drop, fault::Cut, fault::LoseAnswer,
                           fault::Answer, fault::Freeze, fault::Lag, fault::Duplicate, fault::Reorder, fault::Omit,
                           fault::ReplayList, fault::KillBefore, fault::KillAfter>;

// Stands between a client and an API server and does what tests ask, over TLS on both sides; to the client it speaks
// HTTP/2, or HTTP/1.1 alone. It is who `credentials` say it is; a client's token is passed on, so leave the certificate
// out where tokens must count.
class FaultProxy {
 public:
  using Speaks = http::ScriptedServer::Speaks;
  FaultProxy(http::Url api_server, const http::TlsOptions& credentials, const std::string& listen_on = "127.0.0.1",
             Speaks speaks = Speaks::http2);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  http::Url url() const { return server_.url(); }
  std::string ca() const { return server_.trust().ca; }
  std::filesystem::path kubeconfig(const std::string& token = {});

  // The next `count` calls that match, after `skip` others, meet the fault. Of several that fit the oldest counts.
  struct Times {
    int skip = 0;
    int count = 1;
  };
  static constexpr int kAlways = 1 << 30;
  void inject(CallMatch match, Fault fault, Times times);
  void inject(CallMatch match, Fault fault) { inject(std::move(match), std::move(fault), Times()); }
  void release();  // Lets go on what is held.
  void cut_all();  // Every connection of every client breaks, now.
  void heal();     // Forgets all faults; what is frozen or dropped stays so.

  int calls(const CallMatch& match) const;  // How many came so far.
  int faults() const;                       // How many of them met one.
  void keep_bodies();                       // Of calls from now on; nobody else has room for those of minutes.
  std::vector<std::string> bodies(const CallMatch& match) const;  // Of those that had one, in order.

 private:
  using Call = http::ScriptedServer::Call;
  struct Rule {
    CallMatch match;
    Fault fault;
    Times times;
  };
  struct State {
    std::list<Rule> rules;
    int faults = 0;
    std::map<ApiCall, int> calls;  // How often each came.
    bool keeps_bodies = false;
    std::vector<std::pair<ApiCall, std::string>> bodies;
    std::map<std::string, http::Response> first_lists;
    int releases = 0;

    Fault choose(const ApiCall& call, const std::string& body);
  };
  struct Worker {
    std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(false);
    std::jthread thread;
  };

  void wait_release(const std::stop_token& stop);
  void start(const Call& call);
  void handle(const Call& call, const std::stop_token& stop);
  void forward(const Call& call, const ApiCall& what, const Fault& fault, const std::stop_token& stop);
  void stream(const Call& call, const Fault& fault, const std::stop_token& stop);
  void answer(const Call& call, http::Response response);
  void cut(const Call& call);

  TempFolder folder_;
  http::Client upstream_;
  runtime::Guarded<State> state_;
  http::ScriptedServer server_;
  std::list<Worker> workers_;  // Touched by the server's thread, and at the end.
};

}  // namespace testbed
