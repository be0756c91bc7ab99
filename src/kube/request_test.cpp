#include "kube/request.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

const Resource kServices{"", "v1", "services", true};
const Resource kNodes{"", "v1", "nodes", false};
const Resource kRules{"api.operator.brtrm.dev", "v1alpha1", "iprules", false};

TEST(Resource, paths_are_those_of_the_api_server) {
  EXPECT_EQ(kServices.collection(""), "/api/v1/services");
  EXPECT_EQ(kServices.collection("shop"), "/api/v1/namespaces/shop/services");
  EXPECT_EQ(kServices.object({"shop", "web"}, "status"), "/api/v1/namespaces/shop/services/web/status");
  EXPECT_EQ(kNodes.object({"", "a"}), "/api/v1/nodes/a");
  EXPECT_EQ(kRules.object({"", "r"}), "/apis/api.operator.brtrm.dev/v1alpha1/iprules/r");
}

TEST(Resource, a_name_cannot_leave_its_place_in_the_path) {
  EXPECT_EQ(kNodes.object({"", "../pods?x"}), "/api/v1/nodes/..%2Fpods%3Fx");
}

TEST(Request, a_list_says_how_old_it_may_be) {
  EXPECT_EQ(list(kNodes, {}).target, "/api/v1/nodes");
  EXPECT_EQ(list(kNodes, {.selection = {}, .not_older_than = 7, .limit = 500, .token = ""}).target,
            "/api/v1/nodes?limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan");
  // The token fixes the version: the server refuses both together.
  EXPECT_EQ(list(kNodes, {.selection = {}, .not_older_than = 7, .limit = 500, .token = "a=="}).target,
            "/api/v1/nodes?limit=500&continue=a%3D%3D");
}

TEST(Request, a_whole_list_may_be_zipped_and_a_page_is_not) {
  EXPECT_EQ(http::find(list(kNodes, {}).headers, "accept-encoding"), "gzip");
  EXPECT_FALSE(http::find(list(kNodes, {.selection = {}, .limit = 500, .token = ""}).headers, "accept-encoding"));
}

TEST(Request, messages_are_asked_for_where_they_can_be_read_and_json_is_taken_all_the_same) {
  constexpr std::string_view kEither = "application/vnd.kubernetes.protobuf, application/json";
  EXPECT_EQ(http::find(list(kNodes, {.selection = {}, .token = "", .as_message = true}).headers, "accept"), kEither);
  EXPECT_EQ(http::find(watch(kNodes, {.selection = {}, .as_message = true}).headers, "accept"), kEither);
  EXPECT_EQ(http::find(list(kNodes, {}).headers, "accept"), "application/json");
  EXPECT_EQ(http::find(watch(kNodes, {}).headers, "accept"), "application/json");
}

TEST(Request, a_watch_follows_a_version_or_starts_with_everything) {
  const Selection ours{.ns = "shop", .label_selector = "app=web", .field_selector = "metadata.name=x"};
  EXPECT_EQ(watch(kServices, {.selection = ours, .from = 9, .initial = false}).target,
            "/api/v1/namespaces/shop/services?watch=1&allowWatchBookmarks=true&labelSelector=app%3Dweb"
            "&fieldSelector=metadata.name%3Dx&timeoutSeconds=300&resourceVersion=9");
  EXPECT_EQ(watch(kServices, {.selection = {}, .from = 0, .initial = true}).target,
            "/api/v1/services?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true"
            "&resourceVersionMatch=NotOlderThan");
}

TEST(Request, writes_name_their_manager_and_their_type) {
  const auto applied = patch(kNodes, {"", "a"}, "status", PatchType::apply, "{}", "me");
  EXPECT_EQ(applied.method, "PATCH");
  EXPECT_EQ(applied.target, "/api/v1/nodes/a/status?fieldManager=me&force=true");
  EXPECT_EQ(http::find(applied.headers, "content-type"), "application/apply-patch+yaml");

  const auto careful = patch(kNodes, {"", "a"}, "", PatchType::apply_unowned, "{}", "me");
  EXPECT_EQ(careful.target, "/api/v1/nodes/a?fieldManager=me") << "the server refuses to take what is another's";
  EXPECT_EQ(http::find(careful.headers, "content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(http::find(applied.headers, "content-length"), "2");
  EXPECT_EQ(create(kServices, "shop", "{}", "me").target, "/api/v1/namespaces/shop/services?fieldManager=me");
}

TEST(Request, a_server_that_would_drop_fields_is_asked_to_refuse_them) {
  EXPECT_EQ(create(kNodes, "", "{}", "me", UnknownFields::refused).target,
            "/api/v1/nodes?fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(update(kNodes, {"", "a"}, "", "{}", "me", UnknownFields::refused).target,
            "/api/v1/nodes/a?fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(update(kNodes, {"", "a"}, "", "{}", "me").target, "/api/v1/nodes/a?fieldManager=me");
}

TEST(Request, a_delete_carries_its_preconditions) {
  const auto request = remove(kNodes, {"", "a"}, {.uid = "u", .resource_version = "5"}, Propagation::foreground);
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_EQ(request.body, R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
                          R"("preconditions":{"uid":"u","resourceVersion":"5"}})");
}

}  // namespace
}  // namespace kube
