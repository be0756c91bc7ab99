// An API server that is known by name, and a name service that is slow, wrong, or tells another address than before.
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/mount.h>
#include <sys/socket.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "base/fd.h"
#include "base/file.h"
#include "kube/reflector.h"
#include "testbed/fault_proxy.h"
#include "testbed/temp_folder.h"

namespace api_test {
namespace {

using base::Fault;
using testing::AllOf;
using testing::HasSubstr;

// A file of this test's in the place of one of the machine's, for this sandbox alone.
class Instead {
 public:
  Instead(const char* file, const std::string& contents) : file_(file) {
    write(contents);
    if (::mount(own_.c_str(), file_, nullptr, MS_BIND, nullptr) != 0) throw std::runtime_error("mount over " + own_);
  }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { (void)::umount2(file_, MNT_DETACH); }

  void write(const std::string& contents) { must(base::write_file(own_, contents)); }

 private:
  const testbed::TempFolder folder_;
  const std::string own_ = folder_ / "file";
  const char* const file_;
};

// Takes every question and answers none.
base::Fd silent_name_server() {
  base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("port 53 is taken");
  }
  return socket;
}

class NameServiceTest : public ApiTest {
 protected:
  static kube::Config config_of(const std::filesystem::path& kubeconfig) {
    return must(kube::from_kubeconfig({kubeconfig}, ""));
  }
  // The same server, known by its name.
  static std::unique_ptr<kube::Client> by_name(kube::Config config, const http::Tuning& tuning = {}) {
    config.tls_server_name = config.server.host;
    config.server.host = "api.cluster.example";
    return must(kube::Client::connect(config, {}, {}, tuning));
  }
  void stands_at(const std::vector<std::string>& addresses) {
    std::string hosts = "127.0.0.1 localhost\n";
    for (const std::string& address : addresses) hosts += address + " api.cluster.example\n";
    hosts_.write(hosts);
  }
  kube::Result<std::string> ask(base::Duration patience) {
    return named_->get(kNamespaces, {"", "default"}, kube::within(patience));
  }

  Instead hosts_{"/etc/hosts", "127.0.0.1 localhost\n"};
  Instead resolver_{"/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n"};
  const base::Fd silent_ = silent_name_server();
  std::unique_ptr<kube::Client> named_ = by_name(config_of(cluster_.admin_kubeconfig()), {.dial_timeout = 500ms});
};

TEST_F(NameServiceTest, A14_one_that_never_answers_holds_nobody_past_his_deadline) {
  EXPECT_EQ(ask(100ms).error().fault(), Fault::timeout);
  const auto late = ask(20s);  // The resolver itself takes 30 s: a connection is given up before that, and says why.
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault(), Fault::unavailable);
  EXPECT_THAT(late.error().message(), HasSubstr("look up api.cluster.example: no answer in time"));
  stands_at({"127.0.0.1"});
  EXPECT_TRUE(testbed::eventually("the name is known", kBound, [&] { return ask(20s).has_value(); }));
}

TEST_F(NameServiceTest, A14_an_address_that_has_changed_is_found_by_the_next_connection) {
  stands_at({"127.0.0.1"});
  EXPECT_TRUE(testbed::eventually("the name is known", kBound, [&] { return ask(20s).has_value(); }));
  stands_at({"192.0.2.1"});  // Nobody is there, and no way leads there.
  ASSERT_OK(ask(20s));       // The connection is as good as before.
  ASSERT_OK(cluster_.api_server().restart());
  const auto wrong = ask(20s);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().fault(), Fault::unavailable);
  EXPECT_TRUE(testbed::eventually("the wrong address is named", kBound,
                                  [&] { return ask(20s).error().message().contains("192.0.2.1"); }));
  stands_at({"127.0.0.1"});
  EXPECT_TRUE(testbed::eventually("the right one", kBound, [&] { return ask(20s).has_value(); }));
}

TEST_F(NameServiceTest, A14_the_addresses_of_a_name_are_tried_in_turn_and_named_when_nobody_answers) {
  stands_at({"127.0.0.2", "127.0.0.3"});
  kube::Config config = config_of(cluster_.admin_kubeconfig());
  config.server.port = 1;  // Which nobody serves.
  const auto refused = by_name(config)->get(kNamespaces, {"", "default"}, kube::within(kBound));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault(), Fault::unavailable);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("connect 127.0.0.2:1: "), HasSubstr("connect 127.0.0.3:1: ")));
}

// Which comes first is the resolver's affair: each of the two is the one that answers, and so one of them comes second.
TEST_F(NameServiceTest, A14_one_address_of_a_name_that_answers_is_enough) {
  stands_at({"127.0.0.2", "127.0.0.1"});
  const kube::Config server = config_of(cluster_.admin_kubeconfig());
  for (const std::string address : {"127.0.0.1", "127.0.0.2"}) {
    testbed::FaultProxy only(server.server, must(server.tls()), address);
    const auto answer = by_name(config_of(only.kubeconfig()))->get(kNamespaces, {"", "default"}, kube::within(kBound));
    EXPECT_TRUE(answer) << "at " << address << ": " << answer.error().message();
  }
}

// Not ::1, for which the resolver says 127.0.0.1 to whoever asks for addresses of IPv4.
TEST_F(NameServiceTest, A14_a_name_that_has_only_an_address_of_IPv6_is_good_enough) {
  stands_at({cluster_.address6().text()});
  const auto answer = ask(kBound);
  ASSERT_OK(answer);
  runtime::Signal changed;
  const kube::Reflector<std::string> reflector(*named_, kConfigMaps, decode_value, changed,
                                               {.ns = ns_, .label_selector = "", .field_selector = ""});
  ASSERT_OK(put("a", "one"));
  EXPECT_TRUE(testbed::eventually("a is seen", kBound, [&] { return reflector.latest()->find(key("a")) != nullptr; }));
}

}  // namespace
}  // namespace api_test
