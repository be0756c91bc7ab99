#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/message.h"

// The way back: netlink messages, on disk and sent. Part of guard.cpp.
namespace kernel {

base::Status save_undo(const std::filesystem::path& folder, std::span<const Message> inverse);
// Empty when there is none.
base::Result<std::vector<Message>> load_undo(const std::filesystem::path& folder);
base::Status forget_undo(const std::filesystem::path& folder);

// Sends them in order. What is done already (somebody was faster, or it is the second try) is no error.
base::Status send_undo(std::vector<Message> inverse);

// The bytes on disk: each message with its own length in front, as netlink has it.
std::string format_messages(std::span<const Message> messages);
base::Result<std::vector<Message>> parse_messages(std::string_view bytes);

}  // namespace kernel
