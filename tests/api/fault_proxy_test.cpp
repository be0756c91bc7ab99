#include "testbed/fault_proxy.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "kube/reflector.h"
#include "kube/watch.h"
#include "testbed/process.h"

namespace api_test {
namespace {

namespace fault = testbed::fault;
using base::Fault;
using testbed::ApiCall;
using testbed::FaultProxy;
using testing::ElementsAre;

class FaultProxyTest : public ApiTest, public testing::WithParamInterface<FaultProxy::Speaks> {
 protected:
  static kube::Config admin_config() {
    return must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  }

  FaultProxy proxy_{admin_config().server, must(admin_config().tls()), "127.0.0.1", GetParam()};
  std::unique_ptr<kube::Client> through_ = connect(proxy_.kubeconfig());
};

INSTANTIATE_TEST_SUITE_P(Over, FaultProxyTest, testing::Values(FaultProxy::Speaks::http2, FaultProxy::Speaks::http1),
                         [](const auto& which) -> std::string {
                           return which.param == FaultProxy::Speaks::http2 ? "http2" : "http1";
                         });

ApiCall describe(const std::string& method, const std::string& target) {
  return testbed::describe({.method = method, .target = target, .headers = {}, .body = {}});
}

TEST(Describe, reads_verb_resource_and_name) {
  const ApiCall get = describe("GET", "/api/v1/namespaces/shop/services/web");
  EXPECT_EQ(get.verb + " " + get.resource + " " + get.ns + " " + get.name, "get services shop web");
  const ApiCall watch = describe("GET", "/apis/apps/v1/daemonsets?limit=5&watch=true");
  EXPECT_EQ(watch.verb + " " + watch.resource, "watch daemonsets");
  const ApiCall status = describe("PATCH", "/apis/api.operator.brtrm.dev/v1alpha1/nodestates/n1/status?force=true");
  EXPECT_EQ(status.verb + " " + status.resource + " " + status.name, "patch nodestates/status n1");
  EXPECT_EQ(describe("GET", "/api/v1/namespaces").verb, "list");
  EXPECT_EQ(describe("GET", "/api/v1/namespaces/shop").name, "shop");
  EXPECT_EQ(describe("DELETE", "/api/v1/nodes/n1").verb, "delete");
  EXPECT_EQ(describe("GET", "/healthz").verb, "GET");
}

// No API server says such a thing, so one plays it here.
TEST(PassedOn, what_is_no_event_goes_over_as_it_comes_and_so_does_all_after_it) {
  using namespace std::string_literals;
  const std::string event = "\0\0\0\3abc"s;
  const std::string garbage = "\xff\xff\xff\xffgarbage"s;
  http::ScriptedServer server([&](http::ScriptedServer& self, const http::ScriptedServer::Call& call) {
    self.begin(call, 200, {{"content-type", "application/vnd.kubernetes.protobuf;stream=watch"}});
    self.more(call, event + event + garbage);
    self.more(call, event);
    self.end(call);
  });
  FaultProxy proxy(server.url(), server.trust());
  proxy.inject({.verb = "watch"}, fault::Duplicate());
  http::TlsOptions trust;
  trust.ca = proxy.ca();
  http::Client client(proxy.url(), must(http::TlsContext::load(trust)));
  const auto answer = client.send(http::get("/api/v1/pods?watch=1"), soon().deadline);
  ASSERT_OK(answer);
  EXPECT_EQ(answer->body, event + event + event + event + garbage + event);
}

TEST_P(FaultProxyTest, without_faults_it_is_as_if_it_were_not_there) {
  ASSERT_OK(through_->create(kConfigMaps, ns_, config_map("a", "one"), soon()));
  EXPECT_EQ(at(*through_->get(kConfigMaps, key("a"), soon()), "data", "value"), "one");
  EXPECT_EQ(through_->get(kConfigMaps, key("none"), soon()).error().fault(), Fault::absent);
  EXPECT_EQ(proxy_.calls({.verb = "create", .resource = "configmaps"}), 1);
}

TEST_P(FaultProxyTest, a_lost_answer_leaves_the_work_done) {
  proxy_.inject({.verb = "create"}, fault::LoseAnswer());
  EXPECT_EQ(through_->create(kConfigMaps, ns_, config_map("a", "one"), soon()).error().fault(), Fault::unavailable);
  EXPECT_EQ(through_->create(kConfigMaps, ns_, config_map("a", "one"), soon()).error().fault(), Fault::conflict);
}

TEST_P(FaultProxyTest, a_cut_call_never_reaches_the_server) {
  proxy_.inject({.verb = "create"}, fault::Cut());
  EXPECT_EQ(through_->create(kConfigMaps, ns_, config_map("a", "one"), soon()).error().fault(), Fault::unavailable);
  ASSERT_OK(through_->create(kConfigMaps, ns_, config_map("a", "one"), soon()));
}

TEST_P(FaultProxyTest, drops_delays_and_answers_hit_the_call_they_are_meant_for) {
  ASSERT_OK(put("a", "one"));
  ASSERT_OK(put("b", "two"));
  proxy_.inject({.verb = "get", .name = "a"}, fault::Drop(), {.skip = 1, .count = 1});
  proxy_.inject({.verb = "get", .name = "b"}, fault::Answer{.status = 503, .body = "busy"});
  proxy_.inject({.verb = "get", .name = "b"}, fault::Delay{.time = 50ms});
  EXPECT_TRUE(through_->get(kConfigMaps, key("a"), soon()));
  EXPECT_EQ(through_->get(kConfigMaps, key("a"), kube::within(200ms)).error().fault(), Fault::timeout);
  EXPECT_TRUE(through_->get(kConfigMaps, key("a"), soon()));
  EXPECT_EQ(through_->get(kConfigMaps, key("b"), soon()).error().status->code, 503);
  const auto start = base::SteadyClock().now();
  EXPECT_TRUE(through_->get(kConfigMaps, key("b"), soon()));
  EXPECT_GE(base::SteadyClock().now() - start, 50ms);
}

// The time it asks for is over at once; that it is kept is seen by the answer that comes after all.
TEST_P(FaultProxyTest, a_question_is_asked_again_when_the_server_says_when_and_an_order_is_not) {
  ASSERT_OK(put("a", "one"));
  const fault::Answer later{.status = 503, .body = "later", .headers = {{"retry-after", "0"}}};
  proxy_.inject({.verb = "get", .name = "a"}, later);
  EXPECT_TRUE(through_->get(kConfigMaps, key("a"), soon()));
  EXPECT_EQ(proxy_.calls({.verb = "get", .name = "a"}), 2);
  proxy_.inject({.verb = "create", .resource = "configmaps"}, later);
  const int before = proxy_.calls({.verb = "create", .resource = "configmaps"});
  EXPECT_EQ(through_->create(kConfigMaps, ns_, config_map("b", "two"), soon()).error().status->code, 503);
  EXPECT_EQ(proxy_.calls({.verb = "create", .resource = "configmaps"}), before + 1);
}

TEST_P(FaultProxyTest, a_busy_server_is_asked_again_after_the_time_it_asks_for_and_no_earlier) {
  ASSERT_OK(put("a", "one"));
  proxy_.inject({.verb = "get", .name = "a"},
                fault::Answer{.status = 429, .body = "busy", .headers = {{"retry-after", "1"}}});
  const auto start = base::SteadyClock().now();
  EXPECT_TRUE(through_->get(kConfigMaps, key("a"), kube::within(kBound)));
  EXPECT_GE(base::SteadyClock().now() - start, 1s);
  EXPECT_EQ(proxy_.calls({.verb = "get", .name = "a"}), 2);
}

// Each waits up to a second of his own beyond what he is told: with half of one to spare, some are back and some are
// not.
TEST_P(FaultProxyTest, those_who_are_refused_together_do_not_come_back_together) {
  ASSERT_OK(put("a", "one"));
  const fault::Answer later{.status = 503, .body = "later", .headers = {{"retry-after", "0"}}};
  int came_back = 0;
  int went_home = 0;
  EXPECT_TRUE(testbed::eventually("both", kBound,
                                  [&] {
                                    proxy_.inject({.verb = "get", .name = "a"}, later);
                                    const auto answer = through_->get(kConfigMaps, key("a"), kube::within(500ms));
                                    came_back += answer.has_value() ? 1 : 0;
                                    went_home += !answer && answer.error().status ? 1 : 0;
                                    return came_back > 0 && went_home > 0;
                                  }))
      << came_back << " came back, " << went_home << " did not";
}

TEST_P(FaultProxyTest, a_server_that_is_busy_beyond_the_deadline_is_told_at_once) {
  proxy_.inject({.verb = "get", .name = "a"},
                fault::Answer{.status = 429, .body = "busy", .headers = {{"retry-after", "50"}}});
  const auto busy = through_->get(kConfigMaps, key("a"), soon());
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().fault(), Fault::unavailable);  // Whoever waited for the deadline would hear of a timeout.
  ASSERT_TRUE(busy.error().status);
  EXPECT_EQ(busy.error().status->code, 429);
  EXPECT_EQ(proxy_.calls({.verb = "get", .name = "a"}), 1);
}

TEST_P(FaultProxyTest, old_lists_are_replayed) {
  ASSERT_OK(put("a", "one"));
  const kube::ListRequest all{.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .token = ""};
  const auto old = through_->list(kConfigMaps, all, soon());
  ASSERT_OK(old);
  ASSERT_OK(put("b", "two"));
  proxy_.inject({.verb = "list"}, fault::ReplayList());
  EXPECT_EQ(*through_->list(kConfigMaps, all, soon()), *old);
  EXPECT_NE(*through_->list(kConfigMaps, all, soon()), *old);
}

base::Result<std::string> decode_value(const json::Value& object) {
  return std::string(TRY(object["data"]["value"].string_or("")));
}

class Follower {
 public:
  Follower(kube::Client& client, const std::string& ns)
      : reflector_(client, kConfigMaps, decode_value, changed_,
                   {.ns = ns, .label_selector = "", .field_selector = ""}) {}
  std::map<std::string, std::string> values() const {
    const auto view = reflector_.latest();
    std::map<std::string, std::string> out;
    for (const auto& object : view->objects) out[object->key.name] = object->value;
    return out;
  }
  void list_again() { reflector_.list_again(); }

 private:
  runtime::Signal changed_;
  kube::Reflector<std::string> reflector_;
};

// What a watch tells of the changes after this version: the names of their objects, as they come.
std::vector<std::string> told(kube::Client& client, const std::string& ns, std::uint64_t version, std::size_t count) {
  auto stream = must(client.watch(
      kConfigMaps, {.selection = {.ns = ns, .label_selector = "", .field_selector = ""}, .from = version}, soon()));
  kube::Framer framer;
  json::Reader reader;
  std::vector<std::string> out;
  while (out.size() < count) {
    if (const auto object = must(framer.next(reader))) {
      const auto event = must(kube::decode_event(*object));
      if (event.type != kube::Event::Type::bookmark) out.push_back(event.identity.key.name);
    } else {
      framer.feed(must(stream.read(soon().deadline, {})));
    }
  }
  return out;
}

TEST_P(FaultProxyTest, events_are_doubled_and_change_their_order) {
  const auto version = must(kube::parse_version(at(must(put("first", "one")), "metadata", "resourceVersion")));
  for (const std::string name : {"a", "b", "c"}) ASSERT_OK(put(name, "one"));
  EXPECT_THAT(told(*through_, ns_, version, 3), ElementsAre("a", "b", "c"));
  proxy_.inject({.verb = "watch"}, fault::Duplicate());
  EXPECT_THAT(told(*through_, ns_, version, 6), ElementsAre("a", "a", "b", "b", "c", "c"));
  EXPECT_TRUE(testbed::eventually("an event overtakes another that came just before it", kBound, [&] {
    proxy_.inject({.verb = "watch"}, fault::Reorder());
    return told(*through_, ns_, version, 3) == std::vector<std::string>{"b", "a", "c"};
  }));
}

TEST_P(FaultProxyTest, a_reflector_is_right_in_spite_of_doubled_events_and_cuts) {
  proxy_.inject({.verb = "watch"}, fault::Duplicate(), {.skip = 0, .count = FaultProxy::kAlways});
  Follower follower(*through_, ns_);
  std::map<std::string, std::string> wanted;
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("m{}", i % 5);
    wanted[name] = std::to_string(i);
    ASSERT_OK(put(name, wanted[name]));
    if (i == 10) proxy_.cut_all();
  }
  EXPECT_TRUE(testbed::eventually("the last state is seen", kBound, [&] { return follower.values() == wanted; }));
}

TEST_P(FaultProxyTest, A5_events_in_another_order_come_to_the_same_end) {
  proxy_.inject({.verb = "watch"}, fault::Reorder(), {.skip = 0, .count = FaultProxy::kAlways});
  Follower follower(*through_, ns_);
  std::map<std::string, std::string> wanted;
  for (int i = 0; i < 30; ++i) {
    const std::string name = fmt::format("m{}", i % 3);
    wanted[name] = std::to_string(i);
    ASSERT_OK(put(name, wanted[name]));
  }
  ASSERT_OK(drop("m0"));
  wanted.erase("m0");
  EXPECT_TRUE(testbed::eventually("the last state is seen", kBound, [&] { return follower.values() == wanted; }));
}

TEST_P(FaultProxyTest, A6_a_deletion_that_was_never_told_is_found_by_the_next_list) {
  proxy_.inject({.verb = "watch"}, fault::Omit{.type = "DELETED"}, {.skip = 0, .count = FaultProxy::kAlways});
  ASSERT_OK(put("a", "one"));
  Follower follower(*through_, ns_);
  using Values = std::map<std::string, std::string>;
  EXPECT_TRUE(testbed::eventually("a", kBound, [&] { return follower.values() == Values{{"a", "one"}}; }));
  ASSERT_OK(drop("a"));
  ASSERT_OK(put("b", "two"));  // What comes after it has come.
  EXPECT_TRUE(testbed::eventually("b", kBound, [&] { return follower.values().contains("b"); }));
  EXPECT_TRUE(follower.values().contains("a"));
  follower.list_again();
  EXPECT_TRUE(testbed::eventually("a is gone", kBound, [&] { return follower.values() == Values{{"b", "two"}}; }));
}

// A server that was restored from a backup, or a cache that lies: what it shows is older than what we know.
TEST_P(FaultProxyTest, an_old_list_shown_again_takes_nobody_back_in_time) {
  ASSERT_OK(put("a", "one"));
  Follower follower(*through_, ns_);
  using Values = std::map<std::string, std::string>;
  EXPECT_TRUE(testbed::eventually("a", kBound, [&] { return follower.values() == Values{{"a", "one"}}; }));
  ASSERT_OK(put("a", "two"));
  EXPECT_TRUE(testbed::eventually("a anew", kBound, [&] { return follower.values() == Values{{"a", "two"}}; }));
  proxy_.inject({.verb = "watch"}, fault::Answer{.status = 400, .body = "no streams here"});  // Pages, then.
  proxy_.inject({.verb = "list"}, fault::ReplayList());
  const int lists = proxy_.calls({.verb = "list", .resource = "configmaps"});
  follower.list_again();
  EXPECT_TRUE(testbed::eventually("a second list after the old one", kBound, [&] {
    EXPECT_EQ(follower.values(), (Values{{"a", "two"}}));
    return proxy_.calls({.verb = "list", .resource = "configmaps"}) >= lists + 2;
  }));
  EXPECT_EQ(follower.values(), (Values{{"a", "two"}}));
}

TEST_P(FaultProxyTest, a_frozen_watch_delivers_nothing_more) {
  ASSERT_OK(put("a", "one"));
  proxy_.inject({.verb = "watch"}, fault::Freeze{.after_events = 0});
  auto stream =
      through_->watch(kConfigMaps, {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}}, soon());
  ASSERT_OK(stream);
  EXPECT_EQ(stream->read(base::SteadyClock().now() + 300ms, {}).error().fault(), Fault::timeout);
}

TEST_P(FaultProxyTest, a_client_is_killed_after_its_work_was_done) {
  auto victim = must(testbed::Process::start({.arguments = {"sleep", "600"}}));
  proxy_.inject({.verb = "create"}, fault::KillAfter{.client = victim.pid()});
  EXPECT_FALSE(through_->create(kConfigMaps, ns_, config_map("a", "one"), kube::within(3s)));
  EXPECT_TRUE(testbed::eventually("the client is dead", kBound, [&] { return !victim.running(); }));
  ASSERT_OK(client_->get(kConfigMaps, key("a"), soon()));
}

}  // namespace
}  // namespace api_test
