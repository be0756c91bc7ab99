#include "api/endpoint_slice.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(EndpointSlice, ready_addresses_with_their_nodes_in_order) {
  json::Reader reader;
  const auto slice = decode_endpoint_slice(reader
                                               .parse(R"({
    "metadata":{"name":"web-x","namespace":"shop","labels":{"kubernetes.io/service-name":"web"}},
    "addressType":"IPv4",
    "endpoints":[{"addresses":["10.1.0.9"],"nodeName":"b","conditions":{"ready":true}},
                 {"addresses":["10.1.0.8"],"conditions":{"ready":false}},
                 {"addresses":["10.1.0.7"],"nodeName":"a"},
                 {"addresses":["pod.example"],"nodeName":"a"}]})")
                                               .value())
                         .value();
  EXPECT_EQ(slice.service, "web");
  ASSERT_EQ(slice.ready.size(), 2U);
  EXPECT_EQ(slice.ready[0].address.text() + " " + slice.ready[0].node_name, "10.1.0.7 a");
  EXPECT_EQ(slice.ready[1].address.text() + " " + slice.ready[1].node_name, "10.1.0.9 b");
}

}  // namespace
}  // namespace api
