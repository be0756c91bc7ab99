#include "http/gzip_test.h"

#include <zlib.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "http/gzip.h"

namespace http {

std::string gzip(const std::string& text) {
  z_stream stream{};
  ::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

namespace {

RC_GTEST_PROP(Gzip, what_was_packed_comes_out, (const std::string& text)) {
  RC_ASSERT(gunzip(gzip(text), 1U << 20U).value() == text);
}

TEST(Gzip, damage_is_an_error) {
  const std::string packed = gzip(std::string(1000, 'x') + "end");
  for (std::size_t size = 0; size < packed.size(); ++size) EXPECT_FALSE(gunzip(packed.substr(0, size), 10'000)) << size;
  EXPECT_FALSE(gunzip(packed + "more", 10'000));
  EXPECT_FALSE(gunzip("plain text", 10'000));
}

TEST(Gzip, a_bomb_stops_at_the_limit) {
  EXPECT_FALSE(gunzip(gzip(std::string(1'000'000, 'x')), 999'999));
  EXPECT_TRUE(gunzip(gzip(std::string(1'000'000, 'x')), 1'000'000));
}

}  // namespace
}  // namespace http
