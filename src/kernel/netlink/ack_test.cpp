#include "kernel/netlink/ack.h"

#include <cerrno>
#include <limits>
#include <linux/netlink.h>
#include <vector>

#include <gtest/gtest.h>

namespace kernel {
namespace {

std::vector<std::byte> with_words(std::span<const std::byte> head, std::string_view words) {
  std::vector<std::byte> out(head.begin(), head.end());
  const nlattr attribute{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + words.size() + 1),
                         .nla_type = NLMSGERR_ATTR_MSG};
  const auto header = std::as_bytes(std::span(&attribute, 1));
  out.insert(out.end(), header.begin(), header.end());
  for (const char letter : words) out.push_back(static_cast<std::byte>(letter));
  out.push_back({});
  return out;
}

nlmsgerr refused(int error) {
  nlmsgerr out{};
  out.error = error;
  out.msg.nlmsg_len = sizeof(nlmsghdr);
  return out;
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST(Ack, refusal_carries_errno_and_the_words_of_the_kernel) {
  const auto payload = with_words(bytes_of(refused(-EINVAL)), "Invalid table");
  const auto status = decode_answer({.type = NLMSG_ERROR, .flags = NLM_F_ACK_TLVS | NLM_F_CAPPED, .payload = payload});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "kernel: EINVAL (Invalid table)");
  EXPECT_EQ(status.error().errno_value(), EINVAL);
  EXPECT_EQ(status.error().fault(), base::Fault::kernel);
}

TEST(Ack, words_behind_an_echoed_request_are_found) {
  nlmsgerr error = refused(-EPERM);
  error.msg.nlmsg_len = sizeof(nlmsghdr) + 6;
  std::vector<std::byte> head(bytes_of(error).begin(), bytes_of(error).end());
  head.resize(head.size() + 8);
  const auto payload = with_words(head, "no");
  const auto status = decode_answer({.type = NLMSG_ERROR, .flags = NLM_F_ACK_TLVS, .payload = payload});
  EXPECT_EQ(status.error().message(), "kernel: EPERM (no)");
  EXPECT_EQ(status.error().fault(), base::Fault::denied);
}

TEST(Ack, error_inside_done_is_an_error) {
  const int error = -ENOENT;
  const auto payload = with_words(bytes_of(error), "ipv4: FIB table does not exist");
  const auto status = decode_answer({.type = NLMSG_DONE, .flags = NLM_F_ACK_TLVS, .payload = payload});
  EXPECT_EQ(status.error().message(), "kernel: ENOENT (ipv4: FIB table does not exist)");
  EXPECT_EQ(status.error().fault(), base::Fault::absent);
}

TEST(Ack, zero_is_success_and_a_number_that_is_no_errno_is_not) {
  EXPECT_TRUE(decode_answer({.type = NLMSG_ERROR, .payload = bytes_of(refused(0))}));
  const int nothing = 0;
  EXPECT_TRUE(decode_answer({.type = NLMSG_DONE, .payload = bytes_of(nothing)}));
  EXPECT_FALSE(decode_answer({.type = NLMSG_ERROR, .payload = bytes_of(refused(std::numeric_limits<int>::min()))}));
  EXPECT_FALSE(decode_answer({.type = NLMSG_ERROR, .payload = bytes_of(nothing)}));
}

}  // namespace
}  // namespace kernel
