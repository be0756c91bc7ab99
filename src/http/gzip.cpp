#include "http/gzip.h"

#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <zlib.h>

namespace http {

using base::fail;
using base::Fault;

base::Result<std::string> gunzip(std::string_view text, std::size_t limit) {
  constexpr int kGzipOnly = 15 + 16;  // The largest window, and gzip's header instead of zlib's.
  z_stream stream{};
  if (text.size() > std::numeric_limits<uInt>::max()) return fail(Fault::invalid, "gzip: too large");
  if (::inflateInit2(&stream, kGzipOnly) != Z_OK) return fail(Fault::bug, "gzip: cannot begin");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, ::inflateEnd);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // Never written to.
  stream.avail_in = static_cast<uInt>(text.size());

  std::string out;
  std::array<char, 32U << 10U> part;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.append(part.data(), part.size() - stream.avail_out);
    if (out.size() > limit) return fail(Fault::invalid, "gzip: the contents are larger than we accept", EMSGSIZE);
  }
  if (state != Z_STREAM_END || stream.avail_in != 0) return fail(Fault::invalid, "gzip: damaged or cut short");
  return out;
}

}  // namespace http
