#include "meta/time.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace meta {
namespace {

// Reads a text of fixed form from left to right; the first thing that does not fit makes `ok` false for good.
struct Cursor {
  std::string_view rest;
  bool ok = true;

  int number(std::size_t digits, int least, int most) {
    ok = ok && rest.size() >= digits;
    if (!ok) return 0;
    int out = 0;
    for (const char c : rest.substr(0, digits)) {
      ok = ok && c >= '0' && c <= '9';
      out = out * 10 + (c - '0');
    }
    rest.remove_prefix(digits);
    ok = ok && out >= least && out <= most;
    return out;
  }

  char one_of(std::string_view allowed) {
    ok = ok && !rest.empty() && allowed.find(rest.front()) != allowed.npos;
    if (!ok) return '\0';
    const char found = rest.front();
    rest.remove_prefix(1);
    return found;
  }

  void fraction() {
    number(1, 0, 9);
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  }
};

template <typename Number>
void write_number(std::string& out, std::size_t at, std::size_t digits, Number number) {
  for (std::size_t i = at + digits; i-- > at; number /= 10) out[i] = static_cast<char>('0' + number % 10);
}

}  // namespace

base::Result<Time> parse_time(std::string_view text) {
  Cursor at{text};
  const std::chrono::year year(at.number(4, 0, 9999));
  at.one_of("-");
  const int month = at.number(2, 1, 12);
  at.one_of("-");
  const auto date = year / month / at.number(2, 1, 31);
  at.one_of("Tt");
  const std::chrono::hours hour(at.number(2, 0, 23));
  at.one_of(":");
  const std::chrono::minutes minute(at.number(2, 0, 59));
  at.one_of(":");
  const std::chrono::seconds second(at.number(2, 0, 60));

  char zone = at.one_of(".Zz+-");
  if (zone == '.') {
    at.fraction();
    zone = at.one_of("Zz+-");
  }
  std::chrono::minutes offset(0);
  if (zone == '+' || zone == '-') {
    offset = std::chrono::hours(at.number(2, 0, 23));
    at.one_of(":");
    offset += std::chrono::minutes(at.number(2, 0, 59));
  }
  if (!at.ok || !at.rest.empty() || !date.ok()) {
    return base::fail(base::Fault::invalid, fmt::format("\"{}\" is not a time such as 2026-01-31T10:00:00Z", text));
  }
  return std::chrono::sys_days(date) + hour + minute + second - (zone == '-' ? -offset : offset);
}

std::string format_time(Time time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  // By hand: every object that comes as a message has one, and what formats anything is a lot of code to pass through.
  std::string out = "0000-00-00T00:00:00Z";
  write_number(out, 0, 4, static_cast<int>(date.year()));
  write_number(out, 5, 2, static_cast<unsigned>(date.month()));
  write_number(out, 8, 2, static_cast<unsigned>(date.day()));
  write_number(out, 11, 2, clock.hours().count());
  write_number(out, 14, 2, clock.minutes().count());
  write_number(out, 17, 2, clock.seconds().count());
  return out;
}

}  // namespace meta
