#include "kube/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "testbed/fault_proxy.h"

namespace api_test {
namespace {

const kube::Resource kEvents{"events.k8s.io", "v1", "events", true};

class EventsTest : public ApiTest {
 protected:
  kube::Notice notice(const std::string& name, const std::string& note) const {
    kube::Notice out;
    out.regarding = {"v1", "ConfigMap", ns_, name, "c0ffee"};
    out.type = kube::NoticeType::warning;
    out.reason = "InvalidSpec";
    out.action = "Reconcile";
    out.note = note;
    return out;
  }
  std::string list(const std::string& ns) {
    return must(client_->list(
        kEvents, {.selection = {.ns = ns, .label_selector = "", .field_selector = ""}, .token = ""}, soon()));
  }
};

TEST_F(EventsTest, an_event_reaches_the_server_once) {
  kube::Events events(*client_, {"iprule-controller", "pod-1"});
  for (int i = 0; i < 100; ++i) events.record(notice("a", "spec.cidr: not an address"));
  EXPECT_TRUE(testbed::eventually("the event is there", kBound, [&] {
    return list(ns_).find(R"("note":"spec.cidr: not an address")") != std::string::npos;
  }));
  const std::string body = list(ns_);
  EXPECT_THAT(body, testing::HasSubstr(R"("type":"Warning")"));
  EXPECT_THAT(body, testing::HasSubstr(R"("reportingController":"iprule-controller")"));
  EXPECT_EQ(body.find("InvalidSpec"), body.rfind("InvalidSpec"));
}

TEST_F(EventsTest, the_server_accepts_new_events_series_and_cluster_scoped_objects) {
  kube::EventJournal journal(kube::EventJournal(1));
  kube::Notice about_node = notice("node-1", "hello");
  about_node.regarding = {"v1", "Node", "", "node-1", ""};
  const auto now = base::SteadyClock().now();
  const auto wall = std::chrono::system_clock::now();
  journal.add(about_node, now, wall);
  const auto first = journal.next(now).value();
  ASSERT_OK(client_->create(kEvents, first.event.ns, kube::encode_event(first, {"iprule", "pod"}), soon()));
  journal.wrote(first);
  journal.add(about_node, now + 1min, wall);
  const auto series = journal.next(now + 1min).value();
  ASSERT_FALSE(series.create);
  const auto patched =
      client_->patch(kEvents, series.event, kube::PatchType::merge, kube::encode_series(series), soon());
  ASSERT_OK(patched);
  EXPECT_THAT(*patched, testing::HasSubstr(R"("count":2)"));
}

// As Events does, without its minutes.
TEST_F(EventsTest, one_whose_answer_was_lost_is_stored_once) {
  const kube::Config admin_config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  testbed::FaultProxy proxy(admin_config.server, must(admin_config.tls()));
  const auto through = connect(proxy.kubeconfig());
  proxy.inject({.verb = "create", .resource = "events"}, testbed::fault::LoseAnswer());
  kube::EventJournal journal(kube::EventJournal(1));
  const auto start = base::SteadyClock().now();
  const auto wall = std::chrono::system_clock::now();
  const auto create = [&](const kube::EventJournal::Write& write) {
    ASSERT_TRUE(write.create);
    const auto done = through->create(kEvents, ns_, kube::encode_event(write, {"iprule", "pod"}), soon());
    ASSERT_FALSE(done);
    journal.failed(write, kube::failure_of(done.error(), write));
  };
  journal.add(notice("a", "hello"), start, wall);
  create(journal.next(start).value());
  create(journal.next(start + 1min).value());
  EXPECT_FALSE(journal.next_due(start + 2min)) << "it is known to be stored";
  journal.add(notice("a", "hello"), start + 2min, wall + 2min);
  const auto series = journal.next(start + 2min).value();
  ASSERT_FALSE(series.create);
  ASSERT_OK(through->patch(kEvents, series.event, kube::PatchType::merge, kube::encode_series(series), soon()));
  const std::string body = list(ns_);
  EXPECT_EQ(body.find("InvalidSpec"), body.rfind("InvalidSpec")) << body;
  EXPECT_THAT(body, testing::HasSubstr(R"("count":2)"));
}

TEST_F(EventsTest, recording_never_waits_for_the_server) {
  kube::Events events(*client_, {"iprule-controller", "pod-1"});
  cluster_.api_server().freeze();
  const auto start = base::SteadyClock().now();
  for (int i = 0; i < 10'000; ++i) events.record(notice(fmt::format("m{}", i), "note"));
  const auto took = base::SteadyClock().now() - start;
  cluster_.api_server().thaw();
  EXPECT_LT(took, 10s);  // The time one request may take; all of this takes milliseconds.
  EXPECT_GT(events.dropped(), 0U);
}

}  // namespace
}  // namespace api_test
