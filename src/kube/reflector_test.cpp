#include "kube/reflector.h"

#include <atomic>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "http/scripted_server_test.h"

// Client, reflector and store with all their threads, for ThreadSanitizer. What they come to with a real server, and
// with one that fails, is asked in tests/api.
namespace kube {
namespace {

using http::ScriptedServer;
using namespace std::chrono_literals;

struct Note {
  static constexpr unsigned kPageSize = 16;
  std::string text;
};

base::Result<Note> decode_note(const json::Value& object) {
  return Note{std::string(TRY(object["text"].string()))};
}

// Name -> version and text.
using Notes = std::map<std::string, std::pair<std::uint64_t, std::string>>;

Notes notes_of(const View<Note>& view) {
  Notes out;
  for (const auto& object : view.objects) out[object->key.name] = {object->version, object->value.text};
  return out;
}

std::string note_json(const Notes::value_type& note) {
  return fmt::format(R"({{"metadata":{{"name":"{0}","uid":"{0}","resourceVersion":"{1}"}},"text":"{2}"}})", note.first,
                     note.second.first, note.second.second);
}

std::string event_json(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

std::string parameter(const http::Request& request, std::string_view name) {
  const std::string_view target = request.target;
  for (auto at = target.find('?'); at != std::string_view::npos; at = target.find('&', at + 1)) {
    const auto word = target.substr(at + 1, target.find('&', at + 1) - at - 1);
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      return std::string(word.substr(name.size() + 1));
    }
  }
  return {};
}

std::uint64_t number(std::string_view text) {
  std::uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// One kind as an API server serves it: lists in pages of one state, watches from a version or with a list in front.
// All of it belongs to the server's thread.
class NoteServer {
 public:
  static constexpr int kNames = 50;

  NoteServer() { change_later(kNames); }

  Config config() const {
    Config out;
    out.server = server_.url();
    out.ca.data = server_.trust().ca;
    return out;
  }

  // Returns the version that these changes will have led to.
  std::uint64_t change_later(int changes) {
    server_.post([this, changes] {
      for (int i = 0; i < changes; ++i) change();
    });
    return promised_ += static_cast<std::uint64_t>(changes);
  }

  void cut_later() {
    server_.post([this] { server_.cut_all(); });
  }

  // Ends the server's thread, so that this one may look.
  const Notes& close() {
    server_.close();
    return notes_;
  }
  int lists_of_one() const { return lists_of_one_; }  // Once it is closed.

 private:
  struct Change {
    std::uint64_t version;
    std::string event;
  };

  void change() {
    const std::string name = fmt::format("n{:02}", (version_ * 7) % kNames);
    const bool goes = ++version_ % 5 == 0 && notes_.contains(name);
    const bool is_new = !notes_.contains(name);
    auto& note = notes_[name];
    note = {version_, fmt::format("text {}", version_)};
    history_.push_back({version_, event_json(goes     ? "DELETED"
                                             : is_new ? "ADDED"
                                                      : "MODIFIED",
                                             note_json({name, note}))});
    if (goes) notes_.erase(name);
    std::erase_if(watches_, [](const ScriptedServer::Call& call) { return call.gone->load(); });
    for (const auto& watch : watches_) server_.more(watch, history_.back().event);
  }

  void serve(ScriptedServer& server, const ScriptedServer::Call& call) {
    if (parameter(call.request, "watch").empty()) {
      server.answer(call, 200, page(call.request), {{"content-type", "application/json"}});
      return;
    }
    server.begin(call, 200, {{"content-type", "application/json"}});
    if (parameter(call.request, "sendInitialEvents").empty()) {
      const std::uint64_t from = number(parameter(call.request, "resourceVersion"));
      for (const Change& one : history_) {
        if (one.version > from) server.more(call, one.event);
      }
    } else {
      for (const auto& note : notes_) server.more(call, event_json("ADDED", note_json(note)));
      server.more(call, event_json("BOOKMARK", fmt::format(R"({{"metadata":{{"resourceVersion":"{}","annotations":)"
                                                           R"({{"k8s.io/initial-events-end":"true"}}}}}})",
                                                           version_)));
    }
    watches_.push_back(call);
  }

  std::string page(const http::Request& request) {
    const std::string token = parameter(request, "continue");
    auto [version, rest] = token.empty() ? std::pair(version_, notes_) : pages_.at(token);
    if (parameter(request, "limit") == "1") ++lists_of_one_;
    std::vector<std::string> items;
    for (std::uint64_t left = number(parameter(request, "limit")); left > 0 && !rest.empty(); --left) {
      items.push_back(note_json(*rest.begin()));
      rest.erase(rest.begin());
    }
    std::string next;
    if (!rest.empty()) {
      next = fmt::format("t{}", pages_.size());
      pages_[next] = {version, std::move(rest)};
    }
    return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", version, next,
                       fmt::join(items, ","));
  }

  std::uint64_t version_ = 0;
  std::uint64_t promised_ = 0;
  int lists_of_one_ = 0;
  Notes notes_;
  std::vector<Change> history_;
  std::map<std::string, std::pair<std::uint64_t, Notes>> pages_;
  std::vector<ScriptedServer::Call> watches_;
  ScriptedServer server_{[this](ScriptedServer& server, const ScriptedServer::Call& call) { serve(server, call); }};
};

// Holds what it saw last, and takes over what has changed since by compare().
class NoteReader {
 public:
  explicit NoteReader(const Reflector<Note>& reflector) : reflector_(reflector) {}

  void look() {
    const auto view = reflector_.latest();
    if (view->version < view_->version) ++falls_;
    compare(view_->objects, view->objects, [this](const Object<Note>* before, const Object<Note>* after) {
      if (after == nullptr) {
        notes_.erase(before->key.name);
        return;
      }
      if (before != nullptr && after->version < before->version) ++falls_;
      notes_[after->key.name] = {after->version, after->value.text};
    });
    view_ = view;
    version_ = view->version;
  }

  std::uint64_t version() const { return version_; }  // From any thread.
  int falls() const { return falls_; }
  const Notes& notes() const { return notes_; }

 private:
  const Reflector<Note>& reflector_;
  std::shared_ptr<const View<Note>> view_ = std::make_shared<const View<Note>>();
  Notes notes_;
  int falls_ = 0;
  std::atomic<std::uint64_t> version_ = 0;
};

// Between two looks: a processor is left to those who are looked at.
void leave_a_moment() {
  (void)runtime::Signal().wait({}, base::SteadyClock().now() + 1ms);
}

template <typename Fact>
bool comes_true(Fact fact) {
  const auto until = http::soon(60s);
  while (!fact()) {
    if (base::SteadyClock().now() > until) return false;
    leave_a_moment();
  }
  return true;
}

TEST(Reflector, readers_follow_it_while_it_is_stopped_and_lists_again) {
  constexpr int kBatch = 10;
  NoteServer server;
  const auto client = Client::connect(server.config());
  ASSERT_TRUE(client) << client.error().message();
  runtime::Signal changed;
  runtime::Signal told;
  const runtime::Signal::Listener listener(changed, [&] { told.raise(); });
  const Resource notes{"", "v1", "notes", true};
  Reflector<Note> reflector(**client, notes, decode_note, changed);
  ASSERT_TRUE(comes_true([&] { return reflector.latest()->complete; }));

  NoteReader restless(reflector);
  NoteReader waiting(reflector);  // Looks only when something is said to be new.
  std::jthread looks([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); leave_a_moment()) restless.look();
  });
  std::jthread waits([&](const std::stop_token& stop) {
    told.raise();
    while (told.wait(stop)) waiting.look();
  });
  const auto follows = [&](int batches) {
    for (; batches > 0; --batches) {
      const std::uint64_t reached = server.change_later(kBatch);
      if (!comes_true([&] { return reflector.latest()->version + 2 * kBatch >= reached; })) return false;
    }
    return true;
  };
  EXPECT_TRUE(follows(10));
  reflector.list_again();
  EXPECT_TRUE(follows(10));
  reflector.stop();
  const auto last = reflector.latest();
  // Told over the connection on which a watch would have been told of it.
  const std::string unseen = fmt::format(R"("resourceVersion":"{}")", server.change_later(5 * kBatch));
  EXPECT_TRUE(comes_true([&] {
    const auto page = (*client)->list(notes, {.limit = 1}, within(60s));
    return page && page->contains(unseen);
  }));
  EXPECT_EQ(reflector.latest(), last) << "without its thread nothing changes";
  reflector.list_again();
  EXPECT_TRUE(follows(10));

  const std::uint64_t end = server.change_later(1);
  EXPECT_TRUE(comes_true([&] { return restless.version() == end && waiting.version() == end; }))
      << restless.version() << " and " << waiting.version() << " of " << end;
  looks = {};
  waits = {};
  EXPECT_EQ(restless.falls() + waiting.falls(), 0);
  EXPECT_EQ(reflector.latest()->failures, 0U);
  EXPECT_EQ(reflector.latest()->lists, 3U);
  const Notes& truth = server.close();
  EXPECT_EQ(notes_of(*reflector.latest()), truth);
  EXPECT_EQ(restless.notes(), truth);
  EXPECT_EQ(waiting.notes(), truth);
}

TEST(Reflector, of_the_list_that_confirms_a_watch_after_a_cut_no_second_page_is_asked_for) {
  NoteServer server;
  const auto client = Client::connect(server.config());
  ASSERT_TRUE(client) << client.error().message();
  runtime::Signal changed;
  Reflector<Note> reflector(**client, {"", "v1", "notes", true}, decode_note, changed);
  ASSERT_TRUE(comes_true([&] { return reflector.latest()->complete; }));
  const auto sees_a_change = [&] {
    const std::uint64_t end = server.change_later(1);
    return comes_true([&] { return reflector.latest()->version == end; });
  };
  ASSERT_TRUE(sees_a_change()) << "there is a watch to be cut";
  server.cut_later();
  EXPECT_TRUE(sees_a_change());
  server.close();
  EXPECT_EQ(server.lists_of_one(), 1);
}

}  // namespace
}  // namespace kube
