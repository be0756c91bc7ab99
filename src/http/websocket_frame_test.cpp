#include "http/websocket_frame.h"

#include <gtest/gtest.h>

namespace http {
namespace {

using namespace std::string_literals;

constexpr std::array<char, 4> kMask = {0x37, static_cast<char>(0xfa), 0x21, 0x3d};

std::optional<Frame> read(std::string_view bytes, std::size_t largest = 1U << 20U) {
  FrameReader reader(largest);
  reader.add(bytes);
  auto frame = reader.next();
  EXPECT_TRUE(frame) << frame.error().message();
  return frame ? *std::move(frame) : std::nullopt;
}

// RFC 6455, 5.7.
TEST(WebSocketFrame, is_written_and_read_as_the_rfc_shows) {
  EXPECT_EQ(encode(Frame::Kind::text, "Hello", kMask), "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s);
  EXPECT_EQ(read("\x81\x05Hello"s), (Frame{.kind = Frame::Kind::text, .last = true, .payload = "Hello"}));
  EXPECT_EQ(read("\x01\x03Hel"s), (Frame{.kind = Frame::Kind::text, .last = false, .payload = "Hel"}));
  EXPECT_EQ(read("\x82\x7e\x01\x00"s + std::string(256, 'x')),
            (Frame{.kind = Frame::Kind::binary, .last = true, .payload = std::string(256, 'x')}));
  EXPECT_EQ(read("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"s + std::string(65536, 'y'))->payload.size(), 65536U);
}

TEST(WebSocketFrame, the_length_takes_as_many_bytes_as_it_needs) {
  EXPECT_EQ(encode(Frame::Kind::binary, std::string(125, 'x'), kMask).size(), 2 + 4 + 125U);
  EXPECT_EQ(encode(Frame::Kind::binary, std::string(126, 'x'), kMask).substr(0, 4), "\x82\xfe\x00\x7e"s);
  EXPECT_EQ(encode(Frame::Kind::binary, std::string(65536, 'x'), kMask).substr(0, 10),
            "\x82\xff\x00\x00\x00\x00\x00\x01\x00\x00"s);
}

TEST(WebSocketFrame, comes_in_pieces_of_any_size) {
  const std::string bytes = "\x82\x7e\x00\x80"s + std::string(128, 'a') + "\x89\x01p"s;
  FrameReader reader(1000);
  std::vector<Frame> frames;
  for (const char byte : bytes) {
    reader.add({&byte, 1});
    auto frame = reader.next();
    ASSERT_TRUE(frame) << frame.error().message();
    if (*frame) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].payload, std::string(128, 'a'));
  EXPECT_EQ(frames[1], (Frame{.kind = Frame::Kind::ping, .last = true, .payload = "p"}));
}

// What was read is neither kept nor moved away with each of them.
TEST(WebSocketFrame, many_small_ones_cost_no_more_than_few) {
  constexpr std::size_t kMany = 10'000;
  std::string bytes;
  for (std::size_t i = 0; i < kMany; ++i) bytes += "\x8a\x00\x82\x01"s + static_cast<char>(i % 100);
  FrameReader reader(1000);
  reader.add(bytes);
  std::size_t moves = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::size_t before = reader.held();
    ASSERT_EQ(reader.next().value(), (Frame{.kind = Frame::Kind::pong, .last = true, .payload = ""})) << i;
    ASSERT_EQ(reader.next().value()->payload, std::string(1, static_cast<char>(i % 100))) << i;
    ASSERT_EQ(reader.size(), bytes.size() - 5 * (i + 1));
    ASSERT_LE(reader.held(), 2 * reader.size() + 5);
    if (reader.held() != before) ++moves;
  }
  EXPECT_EQ(reader.next().value(), std::nullopt);
  EXPECT_EQ(reader.held(), 0U);
  EXPECT_LT(moves, 20U);  // Each time half of it.
}

TEST(WebSocketFrame, what_no_server_may_send_is_an_error) {
  for (const std::string& bytes : {"\xc1\x00"s,                                      // A reserved bit.
                                   "\x83\x00"s,                                      // An unknown kind.
                                   "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s,  // Masked.
                                   "\x09\x00"s,                                      // A ping in pieces.
                                   "\x88\x7e\x00\x80"s,                              // A long farewell.
                                   "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"s}) {   // Endless.
    FrameReader reader(1000);
    reader.add(bytes);
    EXPECT_FALSE(reader.next()) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace http
