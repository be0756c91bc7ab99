#include "kernel/guard_undo.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/netlink.h>

#include <fmt/format.h>

#include "kernel/journal_file.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/socket.h"

namespace kernel {
namespace {

constexpr JournalFormat kFormat{.name = "iprule-undo", .version = 1};

std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / "undo";
}

bool is_done_already(int errno_value) {
  constexpr std::array kDone = {0, EEXIST, ENOENT, ESRCH, ENODEV, EADDRNOTAVAIL};
  return std::ranges::find(kDone, errno_value) != kDone.end();
}

}  // namespace

std::string format_messages(std::span<const Message> messages) {
  std::string out;
  for (const Message& message : messages) {
    const auto bytes = message.bytes();
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    out.resize(NLMSG_ALIGN(out.size()));
  }
  return out;
}

base::Result<std::vector<Message>> parse_messages(std::string_view bytes) {
  std::vector<Message> out;
  std::span<const std::byte> rest = std::as_bytes(std::span(bytes));
  while (!rest.empty()) {
    const Received received = TRY(next_message(rest));
    Message message(received.type, received.flags);
    if (!received.payload.empty()) message.append_header(received.payload);
    out.push_back(std::move(message));
  }
  return out;
}

base::Status save_undo(const std::filesystem::path& folder, std::span<const Message> inverse) {
  const bool fit = std::ranges::all_of(inverse, [](const Message& message) { return message.fits(); });
  if (!fit) return base::fail(base::Fault::invalid, "a message of the way back does not fit");
  return write_journal_file(file_in(folder), kFormat, TRY(boot_id()), format_messages(inverse));
}

base::Result<std::vector<Message>> load_undo(const std::filesystem::path& folder) {
  const auto boot = TRY(boot_id());
  const auto bytes = TRY(read_journal_file(file_in(folder), kFormat, boot));
  return bytes ? parse_messages(*bytes) : std::vector<Message>();
}

base::Status forget_undo(const std::filesystem::path& folder) {
  return remove_journal_file(file_in(folder));
}

base::Status send_undo(std::vector<Message> inverse) {
  Socket socket = TRY(Socket::open(Bus::route));
  std::size_t refused = 0;
  base::Status first;
  for (base::Status& status : socket.transact_all(inverse)) {
    if (status || is_done_already(status.error().errno_value())) continue;
    if (refused++ == 0) first = std::move(status);
  }
  if (refused == 0) return {};
  return base::within(fmt::format("{} of {} steps back were refused", refused, inverse.size()), std::move(first));
}

}  // namespace kernel
