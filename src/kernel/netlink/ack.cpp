#include "kernel/netlink/ack.h"

#include <algorithm>
#include <cerrno>
#include <linux/netlink.h>
#include <string>

#include <fmt/format.h>

namespace kernel {
namespace {

struct Ack {
  int errno_value = 0;
  std::string words;
};

// Errors travel as negative errno. What is none (a fuzzer's, a future kernel's) must not read as success.
int errno_of(int wire) {
  constexpr int kMaxErrno = 4095;
  if (wire == 0) return 0;
  return wire < 0 && wire >= -kMaxErrno ? -wire : EPROTO;
}

base::Result<std::string> decode_words(std::span<const std::byte> rest) {
  std::string words;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == NLMSGERR_ATTR_MSG) words = std::string(TRY(attribute.text()));
  }
  return words;
}

base::Fault fault_of(int errno_value) {
  switch (errno_value) {
    case EPERM:
    case EACCES:
      return base::Fault::denied;
    case ENOENT:
    case ESRCH:
    case ENODEV:
    case EADDRNOTAVAIL:
      return base::Fault::absent;
    case EEXIST:
      return base::Fault::conflict;
    case EAGAIN:
    case EBUSY:
    case EINTR:
    case ENOBUFS:
    case ENOMEM:
      return base::Fault::unavailable;
    default:
      return base::Fault::kernel;
  }
}

base::Result<Ack> decode_ack(const Received& message) {
  std::span<const std::byte> rest = message.payload;
  const auto error = TRY(take_header<nlmsgerr>(rest));
  Ack ack{.errno_value = errno_of(error.error), .words = {}};
  if ((message.flags & NLM_F_ACK_TLVS) == 0) return ack;
  // Without the cap, the refused request stands between the error and the words.
  if ((message.flags & NLM_F_CAPPED) == 0 && error.msg.nlmsg_len > sizeof(nlmsghdr)) {
    const std::size_t echo = NLMSG_ALIGN(std::size_t{error.msg.nlmsg_len} - sizeof(nlmsghdr));
    rest = rest.subspan(std::min(rest.size(), echo));
  }
  ack.words = TRY(decode_words(rest));
  return ack;
}

base::Result<Ack> decode_done(const Received& message) {
  if (message.payload.empty()) return Ack{};
  std::span<const std::byte> rest = message.payload;
  const int error = TRY(take_header<int>(rest));
  Ack ack{.errno_value = error > 0 ? 0 : errno_of(error), .words = {}};
  if ((message.flags & NLM_F_ACK_TLVS) != 0) ack.words = TRY(decode_words(rest));
  return ack;
}

}  // namespace

base::Status decode_answer(const Received& message) {
  const Ack ack = TRY(message.type == NLMSG_DONE ? decode_done(message) : decode_ack(message));
  if (ack.errno_value == 0) return {};
  const std::string name = base::errno_name(ack.errno_value);
  return base::fail(
      fault_of(ack.errno_value),
      ack.words.empty() ? fmt::format("kernel: {}", name) : fmt::format("kernel: {} ({})", name, ack.words),
      ack.errno_value);
}

}  // namespace kernel
