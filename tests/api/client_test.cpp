#include "kube/client.h"

#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "base/file.h"
#include "base/log.h"
#include "http/websocket.h"
#include "kube/credentials.h"
#include "kube/proxy.h"
#include "kube/review.h"
#include "testbed/fault_proxy.h"
#include "testbed/relay.h"
#include "testbed/temp_folder.h"

namespace api_test {
namespace {

using base::Fault;
using kube::PatchType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ClientTest : public ApiTest {};

TEST_F(ClientTest, an_object_lives_through_every_verb) {
  const auto created = client_->create(kConfigMaps, ns_, config_map("a", "one"), soon());
  ASSERT_OK(created);
  const std::string uid = at(*created, "metadata", "uid");
  EXPECT_EQ(at(*client_->get(kConfigMaps, key("a"), soon()), "metadata", "uid"), uid);

  const auto updated = client_->update(kConfigMaps, key("a"), config_map("a", "two"), soon());
  ASSERT_OK(updated);
  EXPECT_EQ(at(*updated, "data", "value"), "two");

  const auto merged = client_->patch(kConfigMaps, key("a"), PatchType::merge, R"({"data":{"more":"yes"}})", soon());
  ASSERT_OK(merged);
  EXPECT_EQ(at(*merged, "data", "value"), "two");
  EXPECT_EQ(at(*merged, "data", "more"), "yes");

  const auto patched = client_->patch(kConfigMaps, key("a"), PatchType::json,
                                      R"([{"op":"replace","path":"/data/value","value":"three"}])", soon());
  ASSERT_OK(patched);
  EXPECT_EQ(at(*patched, "data", "value"), "three");

  const auto applied = client_->patch(kConfigMaps, key("a"), PatchType::apply, config_map("a", "four"), soon());
  ASSERT_OK(applied);
  EXPECT_EQ(at(*applied, "data", "value"), "four");
  EXPECT_THAT(*applied, HasSubstr(R"("manager":"ip-rule-operator","operation":"Apply")"));

  ASSERT_OK(client_->remove(kConfigMaps, key("a"), {.uid = uid, .resource_version = ""}, soon()));
  EXPECT_EQ(client_->get(kConfigMaps, key("a"), soon()).error().fault(), Fault::absent);
}

TEST_F(ClientTest, the_status_is_a_door_of_its_own) {
  ASSERT_OK(client_->create(kNodes, "", R"({"metadata":{"name":"status-node"}})", soon()));
  const kube::Key node{"", "status-node"};
  const auto patched = client_->patch_status(
      kNodes, node, PatchType::merge, R"({"status":{"phase":"Running"},"spec":{"podCIDR":"10.0.0.0/24"}})", soon());
  ASSERT_OK(patched);
  EXPECT_EQ(at(*patched, "status", "phase"), "Running");
  EXPECT_EQ(at(*patched, "spec", "podCIDR"), "");
  ASSERT_OK(client_->remove(kNodes, node, {}, soon()));
}

TEST_F(ClientTest, applying_the_same_again_changes_nothing) {
  const auto once = put("a", "one");
  const auto twice = put("a", "one");
  ASSERT_OK(once);
  ASSERT_OK(twice);
  EXPECT_EQ(at(*once, "metadata", "resourceVersion"), at(*twice, "metadata", "resourceVersion"));
}

TEST_F(ClientTest, a_second_create_is_a_conflict) {
  ASSERT_OK(client_->create(kConfigMaps, ns_, config_map("a", "one"), soon()));
  const auto again = client_->create(kConfigMaps, ns_, config_map("a", "one"), soon());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault(), Fault::conflict);
  EXPECT_EQ(again.error().status->reason, "AlreadyExists");
  EXPECT_THAT(again.error().message(), HasSubstr("POST /api/v1/namespaces/" + ns_ + "/configmaps"));
}

TEST_F(ClientTest, an_update_of_what_has_changed_is_a_conflict) {
  const auto first = put("a", "one");
  ASSERT_OK(put("a", "two"));
  const std::string version = at(*first, "metadata", "resourceVersion");
  const auto late = client_->update(kConfigMaps, key("a"),
                                    config_map("a", "x", fmt::format(R"(,"resourceVersion":"{}")", version)), soon());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault(), Fault::conflict);
  EXPECT_EQ(late.error().status->reason, "Conflict");
}

TEST_F(ClientTest, a_delete_hits_only_what_was_meant) {
  const auto first = put("a", "one");
  const std::string version = at(*first, "metadata", "resourceVersion");
  EXPECT_EQ(client_->remove(kConfigMaps, key("a"), {.uid = "another", .resource_version = ""}, soon()).error().fault(),
            Fault::conflict);
  ASSERT_OK(put("a", "two"));
  EXPECT_EQ(client_->remove(kConfigMaps, key("a"), {.uid = "", .resource_version = version}, soon()).error().fault(),
            Fault::conflict);
  ASSERT_OK(client_->get(kConfigMaps, key("a"), soon()));
}

TEST_F(ClientTest, what_is_invalid_names_its_field) {
  const auto answer = client_->create(kConfigMaps, ns_, config_map("Not_A_Name", "x"), soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), Fault::invalid);
  ASSERT_TRUE(answer.error().status);
  ASSERT_FALSE(answer.error().status->causes.empty());
  EXPECT_EQ(answer.error().status->causes[0].field, "metadata.name");
}

TEST_F(ClientTest, a_kind_that_is_not_there_is_absent) {
  const auto answer = client_->list({"nowhere.example", "v1", "things", true}, {}, soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), Fault::absent);
}

TEST_F(ClientTest, a_list_comes_in_pages_of_one_version) {
  for (int i = 0; i < 5; ++i) ASSERT_OK(put(fmt::format("m{}", i), "x"));
  kube::ListRequest request{
      .selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .limit = 2, .token = ""};
  std::vector<std::string> names;
  std::string version;
  do {
    const auto page = client_->list(kConfigMaps, request, soon());
    ASSERT_OK(page);
    json::Reader reader;
    const auto root = must(reader.parse(*page));
    for (const auto& item : must(root["items"].items())) names.emplace_back(must(item["metadata"]["name"].string()));
    const std::string now(must(root["metadata"]["resourceVersion"].string()));
    EXPECT_TRUE(version.empty() || version == now);
    version = now;
    ASSERT_OK(put("m9", "written meanwhile"));
    request.token = must(root["metadata"]["continue"].string_or(""));
  } while (!request.token.empty());
  EXPECT_THAT(names, testing::ElementsAre("m0", "m1", "m2", "m3", "m4"));
}

TEST_F(ClientTest, somebody_without_rights_is_denied) {
  const auto nobody = connect(cluster_.kubeconfig(cluster_.user("nobody")));
  const auto answer = nobody->list(kNodes, {}, soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), Fault::denied);
  EXPECT_EQ(answer.error().status->code, 403);
}

// A file whose looks have not changed: written in place, with the size and the time it had. Only the refusal tells.
class RefusedTokenTest : public ApiTest {
 protected:
  void SetUp() override {
    ASSERT_OK(client_->create({"", "v1", "serviceaccounts", true}, ns_, R"({"metadata":{"name":"app"}})", soon()));
    const auto account = cluster_.service_account(ns_, "app");
    ASSERT_OK(account);
    ASSERT_OK(base::write_file(file_, std::string(account->token.size(), 'x')));
    kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
    config.certificate = config.key = {};
    config.token_file = file_;
    refused_ = must(kube::Client::connect(config));
    refused_->observe_calls([this](std::string_view, int code, base::Duration) { codes_.push_back(code); });

    kube::FileWatch looks;
    looks.add(file_);
    const auto written = std::filesystem::last_write_time(file_);
    ASSERT_OK(base::write_file(file_, account->token));
    std::filesystem::last_write_time(file_, written);
    ASSERT_FALSE(looks.changed());
  }

  const testbed::TempFolder folder_;
  const std::filesystem::path file_ = folder_ / "token";
  std::unique_ptr<kube::Client> refused_;
  std::vector<int> codes_;
};

TEST_F(RefusedTokenTest, is_read_again_at_once_and_the_call_repeated) {
  (void)refused_->get(kNamespaces, {"", "default"}, soon());
  EXPECT_THAT(codes_, ElementsAre(401, 403));  // Known now, though without rights.
}

TEST_F(RefusedTokenTest, is_read_again_for_a_watch_too) {
  (void)refused_->watch(kConfigMaps, {.selection = {}, .timeout = 1s}, soon());
  EXPECT_THAT(codes_, ElementsAre(401, 403));
}

TEST_F(RefusedTokenTest, without_another_in_the_file_it_stays_refused) {
  const auto written = std::filesystem::last_write_time(file_);
  ASSERT_OK(base::write_file(file_, std::string(std::filesystem::file_size(file_), 'x')));
  std::filesystem::last_write_time(file_, written);
  (void)refused_->get(kNamespaces, {"", "default"}, soon());
  EXPECT_THAT(codes_, ElementsAre(401));
}

// The kubelet writes a new token when four fifths of the old one's time are over. Who has only the old one shows that
// the server has ceased to take it.
TEST_F(ClientTest, a_token_that_expires_was_followed_by_the_next_without_a_refused_call) {
  ASSERT_OK(client_->create({"", "v1", "serviceaccounts", true}, ns_, R"({"metadata":{"name":"app"}})", soon()));
  const auto first = cluster_.service_account_for(ns_, "app", 5s);
  const auto second = cluster_.service_account(ns_, "app");
  ASSERT_OK(first);
  ASSERT_OK(second);
  const testbed::TempFolder folder;
  ASSERT_OK(base::write_file(folder / "token", first->token));
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.certificate = config.key = {};
  config.token = first->token;
  const auto stays = must(kube::Client::connect(config));
  config.token = {};
  config.token_file = folder / "token";
  const auto rotates = must(kube::Client::connect(config));
  const auto ask = [](kube::Client& client) {  // Without rights, but known.
    return client.get(kNamespaces, {"", "default"}, soon()).error().status->code;
  };
  ASSERT_EQ(ask(*stays), 403);
  ASSERT_EQ(ask(*rotates), 403);

  ASSERT_OK(base::write_file(folder / "token.new", second->token));
  std::filesystem::rename(folder / "token.new", folder / "token");
  EXPECT_TRUE(testbed::eventually("the first token is over", kBound, [&] {
    EXPECT_EQ(ask(*rotates), 403);
    return ask(*stays) == 401;
  }));
  EXPECT_EQ(ask(*rotates), 403);
}

// The new token comes only after the server has ceased to take the old one, in a file that looks as it did: not time,
// nor a look at the file, but the refusal alone says that there is another.
TEST_F(ClientTest, a_token_that_was_good_and_is_refused_is_read_again_and_the_call_repeated_once) {
  ASSERT_OK(client_->create({"", "v1", "serviceaccounts", true}, ns_, R"({"metadata":{"name":"app"}})", soon()));
  const auto first = cluster_.service_account_for(ns_, "app", 5s);
  const auto second = cluster_.service_account_for(ns_, "app", 1h);
  ASSERT_OK(first);
  ASSERT_OK(second);
  ASSERT_EQ(first->token.size(), second->token.size());
  const testbed::TempFolder folder;
  ASSERT_OK(base::write_file(folder / "token", first->token));
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.certificate = config.key = {};
  config.token_file = folder / "token";
  const auto client = must(kube::Client::connect(config));
  std::vector<int> codes;
  client->observe_calls([&](std::string_view, int code, base::Duration) { codes.push_back(code); });
  const auto ask = [&] { (void)client->get(kNamespaces, {"", "default"}, soon()); };
  ask();
  ASSERT_THAT(codes, ElementsAre(403));  // Known, though without rights.
  ASSERT_TRUE(testbed::eventually("the first token is over", kBound, [&] {
    codes.clear();
    ask();
    return codes == std::vector{401};  // And not repeated: the file has no other.
  }));

  const auto written = std::filesystem::last_write_time(folder / "token");
  ASSERT_OK(base::write_file(folder / "token", second->token));
  std::filesystem::last_write_time(folder / "token", written);
  codes.clear();
  ask();
  ask();
  EXPECT_THAT(codes, ElementsAre(401, 403, 403));
}

TEST_F(ClientTest, clients_beside_one_another_share_a_connection_and_no_turns) {
  testbed::Relay relay(cluster_.port());
  auto first = connect(cluster_.kubeconfig(cluster_.user("admin", {"system:masters"}),
                                           fmt::format("https://127.0.0.1:{}", relay.port())));
  int calls = 0;
  first->observe_calls([&](std::string_view, int, base::Duration) { ++calls; });
  const auto slow = first->beside({.rate = 1.0 / 3600, .burst = 1});
  const auto watch = slow->watch(
      kConfigMaps, {.selection = {.ns = ns_, .label_selector = "", .field_selector = ""}, .timeout = 60s}, soon());
  ASSERT_OK(watch);
  EXPECT_EQ(slow->get(kNamespaces, {"", "default"}, soon()).error().fault(), Fault::timeout);
  for (int i = 0; i < 10; ++i) ASSERT_OK(first->get(kNamespaces, {"", "default"}, soon()));
  EXPECT_EQ(calls, 11);

  first.reset();  // The others go on.
  kube::Limit urgent = soon();
  urgent.urgent = true;
  EXPECT_TRUE(slow->get(kNamespaces, {"", "default"}, urgent));
  EXPECT_EQ(relay.accepted(), 1U);
}

TEST_F(ClientTest, S22_every_call_is_logged_for_who_asks_and_no_token_is) {
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.certificate = config.key = {};
  config.token = "do-not-tell";
  const auto client = must(kube::Client::connect(config));
  kube::Config proxied = config;
  proxied.proxy = must(kube::parse_proxy("http://me:do-not-tell@127.0.0.1:1"));  // Where nobody listens.
  const auto through = must(kube::Client::connect(proxied));
  base::log::set_level(base::log::Level::debug);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(client->get(kNamespaces, {"", "default"}, soon()));
  EXPECT_FALSE(client->watch(kNamespaces, {}, soon()));
  EXPECT_FALSE(client->open_socket({.target = "/api/v1/namespaces/default/pods/x/exec"}, "v5.channel.k8s.io", soon()));
  const auto past = through->get(kNamespaces, {"", "default"}, soon());
  const std::string log = testing::internal::GetCapturedStderr();
  base::log::set_level(base::log::Level::info);
  EXPECT_THAT(log, HasSubstr(R"("path":"/api/v1/namespaces/default","status":401)"));
  EXPECT_THAT(log, HasSubstr("watch="));
  EXPECT_THAT(log, HasSubstr(R"(pods/x/exec","status":401)"));
  ASSERT_FALSE(past);
  EXPECT_THAT(past.error().message(), Not(HasSubstr("do-not-tell")));
  EXPECT_THAT(log, HasSubstr(R"("status":0)"));
  EXPECT_THAT(log, Not(HasSubstr("do-not-tell")));
}

TEST_F(ClientTest, new_client_certificates_are_used_without_a_restart) {
  const testbed::TempFolder folder;
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.certificate = {.data = "", .file = folder / "tls.crt"};
  config.key = {.data = "", .file = folder / "tls.key"};
  const auto become = [&](const std::string& name) {
    const auto user = must(kube::from_kubeconfig({cluster_.kubeconfig(cluster_.user(name))}, ""));
    must(base::write_file(config.certificate.file, must(user.certificate.read())));
    must(base::write_file(config.key.file, must(user.key.read())));
  };
  become("first");
  const auto client = must(kube::Client::connect(config));
  const auto name = [&] { return must(kube::who_am_i(*client, soon())).name; };
  EXPECT_EQ(name(), "first");
  become("second");
  EXPECT_TRUE(testbed::eventually("the new name", kBound, [&] { return name() == "second"; }));
}

// A cluster whose authority is replaced: behind the same address stands a server that another one vouches for.
TEST_F(ClientTest, a_new_authority_is_trusted_without_a_restart) {
  const kube::Config real = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy before(real.server, must(real.tls()));
  testbed::FaultProxy after(real.server, must(real.tls()));
  testbed::Relay relay(before.url().port);
  const testbed::TempFolder folder;
  kube::Config config;
  config.server = before.url();
  config.server.port = relay.port();
  config.ca = {.data = "", .file = folder / "ca.crt"};
  ASSERT_OK(base::write_file(config.ca.file, before.ca()));
  const auto client = must(kube::Client::connect(config));
  const auto ask = [&] { return client->get(kNamespaces, {"", "default"}, soon()); };
  ASSERT_OK(ask());

  relay.lead_to(after.url().port);
  EXPECT_TRUE(testbed::eventually("the new server is not trusted", kBound, [&] {
    const auto answer = ask();
    return !answer && answer.error().message().contains("certificate");
  }));
  ASSERT_OK(base::write_file(config.ca.file, after.ca()));
  EXPECT_TRUE(testbed::eventually("it is", kBound, [&] { return ask().has_value(); }));
}

TEST_F(ClientTest, a_server_that_is_not_checked_is_talked_to_and_warned_of) {
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.ca = {};
  const auto careful = must(kube::Client::connect(config))->get(kNamespaces, {"", "default"}, soon());
  ASSERT_FALSE(careful);
  EXPECT_THAT(careful.error().message(), HasSubstr("certificate"));

  config.insecure = true;
  testing::internal::CaptureStderr();
  const auto careless = must(kube::Client::connect(config));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("insecure-skip-tls-verify"));
  ASSERT_OK(careless->get(kNamespaces, {"", "default"}, soon()));
}

TEST_F(ClientTest, an_unknown_authority_is_refused) {
  kube::Config config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.tls_server_name = "somebody.else";
  const auto client = must(kube::Client::connect(config));
  const auto answer = client->get(kNamespaces, {"", "default"}, soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), Fault::unavailable);
  EXPECT_THAT(answer.error().message(), HasSubstr("certificate"));
}

TEST_F(ClientTest, a_frozen_server_is_a_timeout_and_then_works_again) {
  cluster_.api_server().freeze();
  std::optional<Fault> fault;  // The stop takes a moment to reach every thread of the server.
  const auto late = testbed::eventually("no answer", kBound, [&] {
    const auto answer = client_->get(kNamespaces, {"", "default"}, kube::within(300ms));
    if (!answer) fault = answer.error().fault();
    return fault.has_value();
  });
  cluster_.api_server().thaw();
  ASSERT_TRUE(late);
  EXPECT_EQ(fault, Fault::timeout);
  ASSERT_OK(client_->get(kNamespaces, {"", "default"}, soon()));
}

TEST_F(ClientTest, a_killed_server_is_unavailable_and_then_works_again) {
  ASSERT_OK(client_->get(kNamespaces, {"", "default"}, soon()));
  cluster_.api_server().kill();
  EXPECT_EQ(client_->get(kNamespaces, {"", "default"}, soon()).error().fault(), Fault::unavailable);
  ASSERT_OK(cluster_.api_server().restart());
  ASSERT_OK(client_->get(kNamespaces, {"", "default"}, soon()));
}

}  // namespace
}  // namespace api_test
