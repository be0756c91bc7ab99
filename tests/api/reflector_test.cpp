#include "kube/reflector.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "testbed/relay.h"
#include "watcher.h"

namespace api_test {
namespace {

using base::Fault;

class ReflectorTest : public ApiTest {};

TEST_F(ReflectorTest, it_shows_what_is_there_and_follows_changes) {
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client_, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));
  ASSERT_OK(put("b", "two"));
  ASSERT_OK(put("a", "three"));
  EXPECT_TRUE(watcher.sees({{"a", "three"}, {"b", "two"}}));
  ASSERT_OK(drop("a"));
  EXPECT_TRUE(watcher.sees({{"b", "two"}}));
}

TEST_F(ReflectorTest, asked_to_list_again_it_does_and_goes_on_from_there) {
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client_, ns_);
  ASSERT_TRUE(watcher.sees({{"a", "one"}}));
  watcher.list_again();
  EXPECT_TRUE(watcher.sees("a second list", [](const auto& view) { return view.lists == 2; }));
  ASSERT_OK(put("a", "two"));
  EXPECT_TRUE(watcher.sees({{"a", "two"}}));
  EXPECT_EQ(watcher.view()->failures, 0U);
}

// Once it was slow, a decoder works in its reflector's own thread. This one asks the server itself, over the same
// connection: the thread that owns it would wait for itself.
TEST_F(ReflectorTest, a_slow_decoder_holds_up_nobody_else_on_its_connection) {
  const auto client = admin();
  std::atomic<bool> was_answered = false;
  const auto decode_slowly = [&](const json::Value& object) -> base::Result<std::string> {
    const std::string value(TRY(object["data"]["value"].string_or("")));
    if (value.starts_with("slow")) std::this_thread::sleep_for(50ms);
    if (value == "asks") was_answered = client->get(kNamespaces, {"", "default"}, kube::within(10s)).has_value();
    return value;
  };
  runtime::Signal changed;
  const kube::Reflector<std::string> reflector(*client, kConfigMaps, decode_slowly, changed,
                                               {.ns = ns_, .label_selector = "", .field_selector = ""});
  for (const std::string value : {"slow 1", "slow 2", "slow 3", "asks"}) {  // The first may meet the list.
    ASSERT_OK(put("a", value));
    ASSERT_TRUE(testbed::eventually(value, kBound, [&] {
      const auto view = reflector.latest();
      const auto* const found = view->find(key("a"));
      return found != nullptr && found->value == value;
    }));
  }
  EXPECT_TRUE(was_answered);
}

struct OneOnAPage {
  static constexpr unsigned kPageSize = 1;
  std::string value;
};

TEST_F(ReflectorTest, the_next_page_of_a_list_is_asked_for_while_one_is_decoded) {
  for (const std::string name : {"a", "b", "c"}) ASSERT_OK(put(name, name));
  const auto config = must(kube::from_kubeconfig({testbed::shared_cluster().admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(config.server, must(config.tls()));
  const auto client = connect(proxy.kubeconfig());
  std::atomic<int> decoded = 0;
  const auto decode_late = [&](const json::Value& object) -> base::Result<OneOnAPage> {
    const int pages = std::min(++decoded + 1, 3);
    EXPECT_TRUE(testbed::eventually("the next page is asked for", kBound,
                                    [&] { return proxy.calls({.verb = "list", .resource = "configmaps"}) >= pages; }));
    return OneOnAPage{std::string(TRY(object["data"]["value"].string_or("")))};
  };
  runtime::Signal changed;
  const kube::Reflector<OneOnAPage> reflector(*client, kConfigMaps, decode_late, changed,
                                              {.ns = ns_, .label_selector = "", .field_selector = ""});
  ASSERT_TRUE(testbed::eventually("the list", kBound, [&] { return reflector.latest()->complete; }));
  EXPECT_EQ(decoded, 3);
  EXPECT_EQ(proxy.calls({.verb = "list", .resource = "configmaps"}), 3) << "no page was asked for twice";
  for (const std::string name : {"a", "b", "c"}) {
    ASSERT_NE(reflector.latest()->find(key(name)), nullptr);
    EXPECT_EQ(reflector.latest()->find(key(name))->value.value, name);
  }
}

TEST_F(ReflectorTest, of_a_selection_is_seen_what_enters_and_what_leaves_it) {
  const auto label = [&](const std::string& name, const std::string& app) {
    return client_->patch(kConfigMaps, key(name), kube::PatchType::merge,
                          fmt::format(R"({{"metadata":{{"labels":{{"app":"{}"}}}}}})", app), soon());
  };
  ASSERT_OK(put("a", "one"));
  ASSERT_OK(put("b", "two"));
  ASSERT_OK(label("a", "web"));
  Watcher labelled(*client_, ns_, "app=web");
  Watcher named(*client_, ns_, "", "metadata.name=b");
  EXPECT_TRUE(labelled.sees({{"a", "one"}}));
  EXPECT_TRUE(named.sees({{"b", "two"}}));
  ASSERT_OK(label("b", "web"));
  EXPECT_TRUE(labelled.sees({{"a", "one"}, {"b", "two"}}));
  ASSERT_OK(label("a", "db"));
  EXPECT_TRUE(labelled.sees({{"b", "two"}}));
  ASSERT_OK(put("a", "three"));
  ASSERT_OK(drop("b"));
  EXPECT_TRUE(labelled.sees(Values()));
  EXPECT_TRUE(named.sees(Values()));
}

TEST_F(ReflectorTest, nothing_there_is_complete_and_empty) {
  Watcher watcher(*client_, ns_);
  EXPECT_TRUE(watcher.sees(Values{}));
}

TEST_F(ReflectorTest, an_object_that_cannot_be_read_is_unknown_not_deleted) {
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client_, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));
  ASSERT_OK(put("a", "poison"));
  EXPECT_TRUE(watcher.sees("a is unknown", [&](const auto& view) { return view.unknown.contains(key("a")); }));
  EXPECT_EQ(watcher.values(), (Values{{"a", "one"}}));
  ASSERT_OK(put("a", "two"));
  EXPECT_TRUE(watcher.sees({{"a", "two"}}));
  EXPECT_TRUE(watcher.view()->unknown.empty());
}

TEST_F(ReflectorTest, a_new_object_of_the_same_name_is_another_one) {
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client_, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));
  const std::string uid = watcher.view()->find(key("a"))->uid;
  ASSERT_OK(drop("a"));
  ASSERT_OK(put("a", "poison"));
  EXPECT_TRUE(watcher.sees("the old one is gone, the new one unknown",
                           [&](const auto& view) { return view.objects.empty() && view.unknown.contains(key("a")); }));
  ASSERT_OK(put("a", "one"));
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));
  EXPECT_NE(watcher.view()->find(key("a"))->uid, uid);
}

TEST_F(ReflectorTest, bookmarks_carry_the_version_on_without_a_change) {
  const auto list = client_->list(kConfigMaps, {.selection = {.ns = ns_}}, soon());
  ASSERT_OK(list);
  const auto before = must(kube::parse_version(at(*list, "metadata", "resourceVersion")));
  // The server sends one each minute, and one shortly before it ends a watch.
  auto stream = client_->watch(kConfigMaps, {.selection = {.ns = ns_}, .from = before, .timeout = 5s}, soon());
  ASSERT_OK(stream);
  ASSERT_OK(client_->create(kConfigMaps, "default", config_map("elsewhere", "x"), soon()));
  const auto bytes = stream->read(base::SteadyClock().now() + kBound, {});
  ASSERT_OK(bytes);
  json::Reader reader;
  const auto event = kube::decode_event(must(reader.parse(*bytes)));
  ASSERT_OK(event);
  EXPECT_EQ(event->type, kube::Event::Type::bookmark);
  EXPECT_GT(event->identity.version, before);
  ASSERT_OK(client_->remove(kConfigMaps, {"default", "elsewhere"}, {}, soon()));
}

TEST_F(ReflectorTest, a_version_that_was_compacted_away_leads_to_a_new_list) {
  const auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(config.server, must(config.tls()));
  const auto through = connect(proxy.kubeconfig());
  ASSERT_OK(put("a", "one"));
  ASSERT_OK(put("b", "one"));
  const testbed::CallMatch watches{.verb = "watch", .resource = "configmaps"};
  const Values old = {{"a", "one"}, {"b", "one"}};
  Watcher watcher(*through, ns_);
  EXPECT_TRUE(watcher.sees(old));

  // The next watch is held up while history moves on without it: another client does the writing.
  proxy.inject(watches, testbed::fault::Hold(), {.skip = 0, .count = testbed::FaultProxy::kAlways});
  const int before = proxy.calls(watches);
  proxy.cut_all();
  ASSERT_TRUE(testbed::eventually("a watch is held", kBound, [&] { return proxy.calls(watches) > before; }));
  ASSERT_OK(drop("b"));
  ASSERT_OK(put("a", "two"));
  ASSERT_OK(cluster_.compact());
  ASSERT_OK(cluster_.api_server().restart());
  EXPECT_EQ(watcher.values(), old) << "what was known stays";
  EXPECT_EQ(watcher.view()->lists, 1U);

  proxy.heal();
  EXPECT_TRUE(testbed::eventually("what has become of it", kBound, [&] {
    proxy.release();  // Each time: whoever was about to wait would have missed it.
    return watcher.values() == Values{{"a", "two"}};
  }));
  EXPECT_EQ(watcher.view()->lists, 2U) << "no watch goes on from a version that is forgotten";
  EXPECT_EQ(watcher.time_travels(), 0);
}

TEST_F(ReflectorTest, both_forms_of_gone_are_understood) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(put(fmt::format("m{}", i), "x"));
  kube::ListRequest paged{.selection = {.ns = ns_}, .limit = 2};
  const auto first = client_->list(kConfigMaps, paged, soon());
  ASSERT_OK(first);
  paged.token = at(*first, "metadata", "continue");
  const auto old = must(kube::parse_version(at(*first, "metadata", "resourceVersion")));
  ASSERT_OK(put("m0", "y"));
  ASSERT_OK(cluster_.compact());
  ASSERT_OK(cluster_.api_server().restart());

  EXPECT_EQ(client_->list(kConfigMaps, paged, soon()).error().fault(), Fault::expired);
  auto stream = client_->watch(kConfigMaps, {.selection = {.ns = ns_}, .from = old - 3}, soon());
  ASSERT_OK(stream);
  const auto bytes = stream->read(soon().deadline, {});
  ASSERT_OK(bytes);
  json::Reader reader;
  const auto event = kube::decode_event(must(reader.parse(*bytes)));
  ASSERT_OK(event);
  ASSERT_TRUE(event->status);
  EXPECT_EQ(event->status->code, 410);
}

TEST_F(ReflectorTest, rights_taken_away_keep_the_state_and_given_back_go_on) {
  ASSERT_OK(client_->create({"rbac.authorization.k8s.io", "v1", "clusterroles", false}, "",
                            R"({"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["configmaps"],
                                "verbs":["get","list","watch"]}]})",
                            soon()));
  const kube::Resource bindings{"rbac.authorization.k8s.io", "v1", "rolebindings", true};
  const std::string binding = R"({"metadata":{"name":"reader"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
      "kind":"ClusterRole","name":"reader"},"subjects":[{"kind":"User","name":"reader"}]})";
  ASSERT_OK(client_->create(bindings, ns_, binding, soon()));
  ASSERT_OK(put("a", "one"));
  const auto reader = connect(cluster_.kubeconfig(cluster_.user("reader")));
  Watcher watcher(*reader, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));

  ASSERT_OK(client_->remove(bindings, key("reader"), {}, soon()));
  ASSERT_OK(cluster_.api_server().restart());  // A running watch is not asked again.
  EXPECT_TRUE(
      watcher.sees("denied", [](const auto& view) { return view.trouble && view.trouble->fault() == Fault::denied; }));
  EXPECT_EQ(watcher.values(), (Values{{"a", "one"}}));

  ASSERT_OK(put("a", "two"));
  ASSERT_OK(client_->create(bindings, ns_, binding, soon()));
  EXPECT_TRUE(watcher.sees({{"a", "two"}}));
  EXPECT_FALSE(watcher.view()->trouble);
  EXPECT_EQ(watcher.time_travels(), 0);
}

TEST_F(ReflectorTest, stops_kills_restarts_and_freezes_under_change_lose_nothing_and_never_go_back) {
  constexpr int kWriters = 4;
  constexpr int kObjectsEach = 250;
  constexpr int kRemovedOf = 11;  // At each round others, as it does not divide the number of objects.
  // Without a time for its watches a server that is stopped leaves them as they are until its own minute is over; with
  // one it ends them in good order at once.
  const auto own = cluster_.add_api_server(0, {"--shutdown-watch-termination-grace-period=10s"});
  ASSERT_OK(own);
  const auto quick_to_notice = connect(cluster_.kubeconfig(cluster_.user("admin", {"system:masters"}), own->url),
                                       {.ping_after = 500ms, .ping_timeout = 500ms});
  Attempts attempts;
  Watcher watcher(*quick_to_notice, ns_, attempts);
  std::vector<std::jthread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w](const std::stop_token& stop) {
      for (int count = 0; !stop.stop_requested(); ++count) {
        // A write whose answer is lost may have been done or not: the next round settles it.
        const std::string name = fmt::format("m{}-{}", w, count % kObjectsEach);
        if (count % kRemovedOf == 0) {
          (void)quick_to_notice->remove(kConfigMaps, key(name), {}, kube::within(5s));
          continue;
        }
        attempts.note(name, std::to_string(count));
        (void)quick_to_notice->patch(kConfigMaps, key(name), kube::PatchType::apply,
                                     config_map(name, std::to_string(count)), kube::within(5s));
      }
    });
  }
  const auto goes_on = [&] {
    return watcher.sees("the writers go on", [&, version = watcher.view()->version](const auto& view) {
      return !view.trouble && view.version > version + 50;
    });
  };
  EXPECT_TRUE(watcher.sees("a thousand objects, but for those that are away", [](const auto& view) {
    return view.objects.size() > std::size_t{kWriters * kObjectsEach * 4 / 5};
  }));
  testbed::Part& server = *own->part;
  const auto is_troubled = [](const auto& view) { return view.trouble.has_value(); };
  server.kill();
  EXPECT_TRUE(watcher.sees("the end of a killed server", is_troubled));
  ASSERT_OK(server.restart());
  EXPECT_TRUE(goes_on());
  ASSERT_OK(server.restart());
  EXPECT_TRUE(goes_on());
  ASSERT_OK(server.stop());
  EXPECT_TRUE(watcher.sees("the end of a server that was stopped", is_troubled));
  ASSERT_OK(server.restart());
  EXPECT_TRUE(goes_on());
  server.freeze();
  EXPECT_TRUE(watcher.sees("the silence of a frozen server", is_troubled));
  server.thaw();
  EXPECT_TRUE(goes_on());
  writers.clear();
  const auto list = client_->list(
      kConfigMaps, {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .token = ""}, soon());
  ASSERT_OK(list);
  json::Reader reader;
  Values truth;
  for (const auto& item : must(must(reader.parse(*list))["items"].items())) {
    truth[std::string(must(item["metadata"]["name"].string()))] = must(item["data"]["value"].string());
  }
  EXPECT_TRUE(watcher.sees(truth));
  EXPECT_EQ(watcher.time_travels(), 0);
  EXPECT_THAT(watcher.untrue(), testing::IsEmpty());
  server.kill();
}

// What a server does that has balancers before it: of fifty requests it answers one with GOAWAY. What is under way on
// that connection goes on there, and everything else needs another.
TEST_F(ReflectorTest, A2_a_server_that_sends_its_clients_away_fails_no_request_and_loses_no_change) {
  constexpr int kWriters = 4;
  constexpr int kObjectsEach = 150;
  const auto restless = cluster_.add_api_server(0, {"--goaway-chance=0.02"});
  ASSERT_OK(restless);
  const testbed::Relay relay(restless->port);  // Counts the connections.
  const auto client = connect(cluster_.kubeconfig(cluster_.user("admin", {"system:masters"}),
                                                  fmt::format("https://127.0.0.1:{}", relay.port())));
  Attempts attempts;
  Watcher watcher(*client, ns_, attempts);
  runtime::Guarded<std::vector<std::string>> failed;
  const auto expect = [&](const auto& answer) {
    if (!answer) failed.change([&](auto& all) { all.push_back(answer.error().message()); });
  };
  std::vector<std::jthread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < kObjectsEach; ++i) {
        const std::string name = fmt::format("m{}-{}", w, i);
        attempts.note(name, name);
        expect(client->create(kConfigMaps, ns_, config_map(name, name), soon()));
        expect(client->get(kConfigMaps, key(name), soon()));
      }
    });
  }
  writers.clear();
  EXPECT_THAT(failed.read([](const auto& all) { return all; }), testing::IsEmpty());
  EXPECT_GT(relay.accepted(), 1U) << "nobody was sent away";
  Values truth;
  for (int w = 0; w < kWriters; ++w) {
    for (int i = 0; i < kObjectsEach; ++i) truth[fmt::format("m{}-{}", w, i)] = fmt::format("m{}-{}", w, i);
  }
  EXPECT_TRUE(watcher.sees(truth));
  EXPECT_EQ(watcher.time_travels(), 0);
  EXPECT_THAT(watcher.untrue(), testing::IsEmpty());
  EXPECT_EQ(watcher.view()->failures, 0U);
  restless->part->kill();
}

TEST_F(ReflectorTest, D32_a_frozen_server_is_noticed_by_a_ping_and_followed_after_the_thaw) {
  const auto client = admin({.ping_after = 200ms, .ping_timeout = 300ms});
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));
  cluster_.api_server().freeze();
  const auto noticed = watcher.sees("trouble", [](const auto& view) { return view.trouble.has_value(); });
  cluster_.api_server().thaw();
  EXPECT_TRUE(noticed);
  EXPECT_EQ(watcher.values(), (Values{{"a", "one"}}));
  ASSERT_OK(put("a", "two"));
  EXPECT_TRUE(watcher.sees({{"a", "two"}}));
  EXPECT_EQ(watcher.time_travels(), 0);
}

class LateKindTest : public ReflectorTest {
 protected:
  static constexpr auto kKind = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"things.late.example"},"spec":{"group":"late.example","scope":"Cluster",
    "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

  template <typename Fact>
  testing::AssertionResult sees(Fact fact) {
    const auto until = base::SteadyClock().now() + kBound;
    while (!fact(*reflector_.latest())) {
      if (base::SteadyClock().now() > until) return testing::AssertionFailure() << "never seen";
      (void)changed_.wait({}, std::min(until, base::SteadyClock().now() + 100ms));
    }
    return testing::AssertionSuccess();
  }
  static bool is_absent(const kube::View<std::string>& view) {
    return view.trouble && view.trouble->fault() == Fault::absent;
  }
  // One that was deleted is in the way for some moments.
  void create_kind() {
    ASSERT_TRUE(testbed::eventually("the kind is made", kBound,
                                    [&] { return client_->create(crds_, "", kKind, soon()).has_value(); }));
  }
  // A kind is served some moments after it was made.
  void create_thing(const std::string& name) {
    const std::string thing = fmt::format(
        R"({{"apiVersion":"late.example/v1","kind":"Thing","metadata":{{"name":"{0}"}},"data":{{"value":"{0}"}}}})",
        name);
    ASSERT_TRUE(testbed::eventually("the kind is served", kBound,
                                    [&] { return client_->create(things_, "", thing, soon()).has_value(); }));
  }

  const kube::Resource crds_{"apiextensions.k8s.io", "v1", "customresourcedefinitions", false};
  const kube::Resource things_{"late.example", "v1", "things", false};
  const kube::Key kind_{"", "things.late.example"};
  runtime::Signal changed_;
  kube::Reflector<std::string> reflector_{*client_, things_, decode, changed_};
};

TEST_F(LateKindTest, a_kind_that_appears_later_is_noticed) {
  EXPECT_TRUE(sees(is_absent));
  EXPECT_FALSE(reflector_.latest()->complete);
  create_kind();
  EXPECT_TRUE(sees([](const auto& view) { return view.complete; }));
  ASSERT_OK(client_->remove(crds_, kind_, {}, soon()));
}

TEST_F(LateKindTest, a_kind_deleted_and_created_again_is_followed_on) {
  const auto shows = [](const std::string& name) {
    return [name](const kube::View<std::string>& view) {
      return view.complete && view.objects.size() == 1 && view.objects.front()->value == name;
    };
  };
  create_kind();
  create_thing("first");
  EXPECT_TRUE(sees(shows("first")));
  ASSERT_OK(client_->remove(crds_, kind_, {}, soon()));
  EXPECT_TRUE(sees(is_absent));
  create_kind();
  create_thing("second");
  EXPECT_TRUE(sees(shows("second")));
  ASSERT_OK(client_->remove(crds_, kind_, {}, soon()));
}

// Two servers on one storage, and one of them has not heard of the last changes: what it shows is the past.
TEST_F(ReflectorTest, a_server_that_lags_behind_takes_nobody_back_in_time) {
  testbed::Relay storage(cluster_.etcd_port());
  const auto lagging = cluster_.add_api_server(storage.port());
  ASSERT_OK(lagging);
  testbed::Relay balancer(cluster_.port());
  const auto client = connect(cluster_.kubeconfig(cluster_.user("admin", {"system:masters"}),
                                                  fmt::format("https://127.0.0.1:{}", balancer.port())));
  ASSERT_OK(put("a", "one"));
  Watcher watcher(*client, ns_);
  EXPECT_TRUE(watcher.sees({{"a", "one"}}));

  storage.freeze();
  ASSERT_OK(put("a", "two"));
  ASSERT_OK(put("b", "new"));
  EXPECT_TRUE(watcher.sees({{"a", "two"}, {"b", "new"}}));
  balancer.lead_to(lagging->port);
  EXPECT_TRUE(watcher.sees("the old server is gone", [](const auto& view) { return view.trouble.has_value(); }));
  ASSERT_OK(client->send({.method = "GET", .target = "/version"}, soon()));  // The lagging one answers.
  EXPECT_EQ(watcher.values(), (Values{{"a", "two"}, {"b", "new"}}));
  EXPECT_TRUE(watcher.view()->trouble) << "what it shows is not taken for news";

  storage.thaw();
  ASSERT_OK(put("a", "three"));
  EXPECT_TRUE(watcher.sees({{"a", "three"}, {"b", "new"}}));
  EXPECT_EQ(watcher.time_travels(), 0);
  lagging->part->kill();
}

}  // namespace
}  // namespace api_test
