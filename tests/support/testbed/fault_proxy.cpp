#include "testbed/fault_proxy.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/file.h"
#include "kube/message.h"
#include "lab/kubernetes/pki.h"
#include "runtime/signal.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerTime = 120s;
constexpr auto kLook = 100ms;  // How often a quiet stream looks whether its client is still there.

base::TimePoint after(base::Duration time) {
  return base::SteadyClock().now() + time;
}

void wait(base::Duration time, const std::stop_token& stop) {
  (void)runtime::Signal().wait(stop, after(time));
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> out;
  std::istringstream text{std::string(path)};
  for (std::string one; std::getline(text, one, '/');) {
    if (!one.empty()) out.push_back(one);
  }
  return out;
}

std::string verb_of(const std::string& method, bool named, bool watch) {
  if (method == "GET") return watch ? "watch" : named ? "get" : "list";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  return method == "DELETE" ? "delete" : method;
}

// Without what belongs to one connection, and without compression: the proxy reads what it passes on.
http::Headers end_to_end(const http::Headers& headers) {
  static const std::vector<std::string> kOwn = {"host", "accept-encoding", "content-length", "connection",
                                                "transfer-encoding"};
  http::Headers out;
  for (const http::Header& header : headers) {
    if (!header.name.starts_with(':') && std::ranges::find(kOwn, header.name) == kOwn.end()) out.push_back(header);
  }
  return out;
}

template <typename T>
bool is(const Fault& fault) {
  return std::holds_alternative<T>(fault);
}

// An event of a watch, as its server has written it.
struct PassedEvent {
  std::string bytes;
  std::string type;
  std::string name;  // Of the object that it is about; none for a bookmark.
};

// The event that `pending` begins with; nothing while some of it is still to come. After an error nobody can tell where
// the next one would begin.
using Taken = base::Result<std::optional<PassedEvent>>;

constexpr std::size_t kLargestEvent = 16U << 20U;

// As JSON Kubernetes ends each with a line feed.
Taken take_line(std::string_view pending) {
  const auto end = pending.find('\n');
  if (end == std::string_view::npos) {
    if (pending.size() > kLargestEvent) return base::fail(base::Fault::invalid, "a line without an end");
    return std::nullopt;
  }
  PassedEvent out{.bytes = std::string(pending.substr(0, end + 1)), .type = {}, .name = {}};
  const auto text_after = [&](std::string_view before) {
    const auto at = out.bytes.find(before);
    if (at == std::string::npos) return std::string();
    const auto begin = at + before.size();
    return out.bytes.substr(begin, out.bytes.find('"', begin) - begin);
  };
  out.type = text_after(R"({"type":")");
  out.name = text_after(R"("metadata":{"name":")");
  return out;
}

// As a message it has its length before it.
Taken take_message(std::string_view pending) {
  constexpr std::size_t kLengthSize = 4;
  if (pending.size() < kLengthSize) return std::nullopt;
  std::size_t length = 0;
  for (const char c : pending.substr(0, kLengthSize)) length = length << 8U | static_cast<unsigned char>(c);
  if (length > kLargestEvent) return base::fail(base::Fault::invalid, "no message is so long");
  if (pending.size() < kLengthSize + length) return std::nullopt;
  PassedEvent out{.bytes = std::string(pending.substr(0, kLengthSize + length)), .type = {}, .name = {}};
  if (const auto event = kube::open_event(pending.substr(kLengthSize, length))) {
    constexpr std::uint32_t kMetadata = 1;
    constexpr std::uint32_t kName = 1;
    out.type = event->type;
    out.name = json::bytes_of(json::bytes_of(event->envelope.object, kMetadata), kName);
  }
  return out;
}

// Passes a watch on event by event.
class EventFilter {
 public:
  EventFilter(const Fault& fault, bool as_messages)
      : take_(as_messages ? take_message : take_line),
        copies_(is<fault::Duplicate>(fault) ? 2 : 1),
        reorders_(is<fault::Reorder>(fault)),
        omitted_(is<fault::Omit>(fault) ? std::get<fault::Omit>(fault).type : ""),
        left_(is<fault::Freeze>(fault) ? std::get<fault::Freeze>(fault).after_events : -1) {}

  bool frozen() const { return left_ == 0; }

  std::string pass(const std::string& bytes) {
    if (broken_) return bytes;
    pending_ += bytes;
    std::string out;
    std::size_t passed = 0;
    while (!frozen()) {
      const auto event = take_(std::string_view(pending_).substr(passed));
      if (!event) return out + give_up_at(passed);
      if (!*event) break;
      passed += (*event)->bytes.size();
      if (!omitted_.empty() && (*event)->type == omitted_) continue;
      for (int i = 0; i < copies_; ++i) out += reorders_ ? in_other_order(**event) : (*event)->bytes;
      if (left_ > 0) --left_;
    }
    pending_.erase(0, passed);
    if (pending_.empty())
      pending_.shrink_to_fit();  // A watch would keep room for the most that it ever brought at once.
    return out;
  }

  // What waits for a later event that does not come.
  std::string rest() { return std::exchange(held_, {}).bytes; }

 private:
  // These are no events: from there on all goes over as it comes.
  std::string give_up_at(std::size_t passed) {
    broken_ = true;
    return rest() + std::exchange(pending_, {}).substr(passed);
  }

  std::string in_other_order(const PassedEvent& event) {
    const PassedEvent earlier = std::exchange(held_, {});
    if (event.name.empty() || event.name == earlier.name) return earlier.bytes + event.bytes;
    if (!earlier.bytes.empty()) return event.bytes + earlier.bytes;
    held_ = event;
    return {};
  }

  Taken (*take_)(std::string_view pending);
  int copies_;
  bool reorders_;
  std::string omitted_;  // The type of events that never come; empty: all come.
  int left_;             // Negative: no limit.
  bool broken_ = false;
  std::string pending_;
  PassedEvent held_;
};

// What comes late: handed out when its time has come.
class Delayed {
 public:
  explicit Delayed(const Fault& fault)
      : lag_(is<fault::Lag>(fault) ? std::get<fault::Lag>(fault).time : base::Duration::zero()) {}

  void add(std::string bytes) { waiting_.emplace_back(after(lag_), std::move(bytes)); }
  std::string due() {
    std::string out;
    while (!waiting_.empty() && waiting_.front().first <= base::SteadyClock().now()) {
      out += waiting_.front().second;
      waiting_.pop_front();
    }
    return out;
  }

 private:
  base::Duration lag_;
  std::deque<std::pair<base::TimePoint, std::string>> waiting_;
};

}  // namespace

ApiCall describe(const http::Request& request) {
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string> parts = segments(path);
  const std::size_t prefix = !parts.empty() && parts[0] == "api" ? 2 : !parts.empty() && parts[0] == "apis" ? 3 : 0;
  if (prefix == 0 || parts.size() <= prefix) return {.verb = request.method, .resource = {}, .ns = {}, .name = {}};
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(prefix));

  ApiCall out;
  if (parts[0] == "namespaces" && parts.size() > 2) {
    out.ns = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  out.resource = parts[0];
  if (parts.size() > 1) out.name = parts[1];
  if (parts.size() > 2) out.resource += "/" + parts[2];
  const bool watch =
      target.find("watch=true") != std::string_view::npos || target.find("watch=1") != std::string_view::npos;
  out.verb = verb_of(request.method, parts.size() > 1, watch);
  return out;
}

bool CallMatch::matches(const ApiCall& call) const {
  return (verb.empty() || verb == call.verb) && (resource.empty() || resource == call.resource) &&
         (name.empty() || name == call.name);
}

Fault FaultProxy::State::choose(const ApiCall& call, const std::string& body) {
  ++calls[call];
  if (keeps_bodies && !body.empty()) bodies.emplace_back(call, body);
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    if (!rule->match.matches(call)) continue;
    if (rule->times.skip-- > 0) continue;
    const Fault chosen = rule->fault;
    if (--rule->times.count <= 0) rules.erase(rule);
    ++faults;
    return chosen;
  }
  return fault::None();
}

FaultProxy::FaultProxy(http::Url api_server, const http::TlsOptions& credentials, const std::string& listen_on,
                       Speaks speaks)
    : upstream_(std::move(api_server), http::TlsContext::load(credentials).value()),
      server_([this](http::ScriptedServer&, const Call& call) { start(call); }, listen_on, speaks) {}

FaultProxy::~FaultProxy() {
  server_.close();
  for (Worker& worker : workers_) worker.thread.request_stop();
  workers_.clear();
}

std::filesystem::path FaultProxy::kubeconfig(const std::string& token) {
  const auto file = folder_ / fmt::format("kubeconfig-{}", token.empty() ? "plain" : "token");
  const std::string user = token.empty() ? "{}" : fmt::format(R"({{"token":"{}"}})", token);
  const std::string text = fmt::format(
      R"({{"apiVersion":"v1","kind":"Config","current-context":"p","contexts":[{{"name":"p","context":{{"cluster":"p","user":"p"}}}}],)"
      R"("clusters":[{{"name":"p","cluster":{{"server":"{}","certificate-authority-data":"{}"}}}}],"users":[{{"name":"p","user":{}}}]}})",
      url().text(), lab::base64(ca()), user);
  if (!base::write_file(file, text)) std::abort();
  return file;
}

void FaultProxy::inject(CallMatch match, Fault fault, Times times) {
  state_.change([&](State& state) { state.rules.push_back({std::move(match), std::move(fault), times}); });
}

void FaultProxy::release() {
  state_.change([](State& state) { ++state.releases; });
}

void FaultProxy::wait_release(const std::stop_token& stop) {
  const int seen = state_.read([](const State& state) { return state.releases; });
  (void)state_.wait(
      stop, [&](const State& state) { return state.releases > seen ? std::optional(true) : std::nullopt; },
      [](const State&) { return std::optional<base::TimePoint>(); });
}

void FaultProxy::cut_all() {
  server_.post([this] { server_.cut_all(); });
}

void FaultProxy::heal() {
  state_.change([](State& state) { state.rules.clear(); });
}

int FaultProxy::calls(const CallMatch& match) const {
  return state_.read([&](const State& state) {
    int count = 0;
    for (const auto& [call, times] : state.calls) count += match.matches(call) ? times : 0;
    return count;
  });
}

int FaultProxy::faults() const {
  return state_.read([](const State& state) { return state.faults; });
}

void FaultProxy::keep_bodies() {
  state_.change([](State& state) { state.keeps_bodies = true; });
}

std::vector<std::string> FaultProxy::bodies(const CallMatch& match) const {
  return state_.read([&](const State& state) {
    std::vector<std::string> out;
    for (const auto& [call, body] : state.bodies) {
      if (match.matches(call)) out.push_back(body);
    }
    return out;
  });
}

// Each call has a thread: a frozen one holds up nobody.
void FaultProxy::start(const Call& call) {
  std::erase_if(workers_, [](const Worker& worker) { return worker.done->load(); });
  Worker& worker = workers_.emplace_back();
  worker.thread = std::jthread([this, call, done = worker.done](std::stop_token stop) {
    handle(call, stop);
    *done = true;
  });
}

void FaultProxy::handle(const Call& call, const std::stop_token& stop) {
  const ApiCall what = describe(call.request);
  const Fault fault = state_.change([&](State& state) { return state.choose(what, call.request.body); });
  if (is<fault::Drop>(fault)) return;
  if (is<fault::Cut>(fault)) return cut(call);
  if (const auto* killed = std::get_if<fault::KillBefore>(&fault)) {
    ::kill(killed->client, SIGKILL);
    return;
  }
  if (const auto* own = std::get_if<fault::Answer>(&fault)) {
    return answer(call, {.status = own->status, .headers = own->headers, .body = own->body});
  }
  if (const auto* delay = std::get_if<fault::Delay>(&fault)) wait(delay->time, stop);
  if (is<fault::Hold>(fault)) wait_release(stop);
  what.verb == "watch" ? stream(call, fault, stop) : forward(call, what, fault, stop);
}

void FaultProxy::forward(const Call& call, const ApiCall& what, const Fault& fault, const std::stop_token& stop) {
  http::Request request = call.request;
  request.headers = end_to_end(request.headers);
  // A list is what its client can read.
  const std::string path = fmt::format("{} {}", request.target.substr(0, request.target.find('?')),
                                       http::find(request.headers, "accept").value_or(""));
  auto response = upstream_.send(std::move(request), after(kAnswerTime), stop);
  if (!response || is<fault::LoseAnswer>(fault)) return cut(call);
  if (const auto* killed = std::get_if<fault::KillAfter>(&fault)) {
    ::kill(killed->client, SIGKILL);
    return;
  }
  if (what.verb == "list" && response->status == 200) {
    const auto first =
        state_.change([&](State& state) { return state.first_lists.try_emplace(path, *response).first->second; });
    if (is<fault::ReplayList>(fault)) return answer(call, first);
  }
  answer(call, *std::move(response));
}

void FaultProxy::stream(const Call& call, const Fault& fault, const std::stop_token& stop) {
  http::Request request = call.request;
  request.headers = end_to_end(request.headers);
  auto events = upstream_.open(std::move(request), after(kAnswerTime), stop);
  if (!events || is<fault::LoseAnswer>(fault)) return cut(call);
  server_.post([this, call, status = events->status(), headers = end_to_end(events->headers())] {
    server_.begin(call, status, headers);
  });
  const auto pass_on = [&](std::string bytes) {
    server_.post([this, call, bytes = std::move(bytes)] { server_.more(call, bytes); });
  };
  const auto type = http::find(events->headers(), "content-type").value_or("");
  EventFilter filter(fault, type.starts_with("application/vnd.kubernetes.protobuf"));
  Delayed delayed(fault);
  while (!stop.stop_requested() && !*call.gone) {
    if (filter.frozen()) {
      wait(kLook, stop);
      continue;
    }
    const auto bytes = events->read(after(kLook), stop);
    if (!bytes && bytes.error().fault() == base::Fault::timeout) {
      delayed.add(filter.rest());
      pass_on(delayed.due());
      continue;
    }
    if (!bytes) return cut(call);
    if (bytes->empty()) return server_.post([this, call] { server_.end(call); });
    // A refusal is one text without a line feed.
    delayed.add(events->status() == 200 ? filter.pass(*bytes) : *bytes);
    pass_on(delayed.due());
  }
}

void FaultProxy::answer(const Call& call, http::Response response) {
  server_.post([this, call, response = std::move(response)] {
    if (!*call.gone) server_.answer(call, response.status, response.body, end_to_end(response.headers));
  });
}

void FaultProxy::cut(const Call& call) {
  server_.post([this, call] { server_.cut(call.connection); });
}

}  // namespace testbed
