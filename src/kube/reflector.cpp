#include "kube/reflector.h"

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "kube/page.h"
#include "runtime/memory.h"
#include "runtime/signal.h"

namespace kube {
namespace {

using base::now;

constexpr auto kAnswerTime = std::chrono::seconds(60);  // The server's own limit for anything but a watch.

// The next page of a list, asked for while the one before it is decoded: half of the time that a long list takes is the
// server's. Only a guess, by the page's text; whoever would ask takes it if it is what he would ask for.
class PageAhead {
 public:
  PageAhead(Client& client, const Resource& resource, ListRequest request, std::stop_token stop)
      : request_(std::move(request)),
        on_stop_(std::move(stop), [this] { end_.request_stop(); }),
        thread_([&, this] { answer_ = client.list(resource, request_, within(kAnswerTime, end_.get_token())); }) {}
  ~PageAhead() { end_.request_stop(); }

  bool is_for(const ListRequest& request) const {
    return request.token == request_.token && request.limit == request_.limit;
  }
  Result<std::string> take() {
    thread_.join();
    return std::move(answer_);
  }

 private:
  const ListRequest request_;
  std::stop_source end_;
  const std::stop_callback<std::function<void()>> on_stop_;
  Result<std::string> answer_;
  std::jthread thread_;  // Last: it uses all of the above.
};

class Talk {
 public:
  Talk(Client& client, const Resource& resource, ListWatch& steps, std::stop_token stop)
      : client_(client),
        resource_(resource),
        steps_(steps),
        stop_(std::move(stop)),
        life_(client.storage().life()),
        told_(steps.failures()),
        lists_(steps.lists()),
        falls_(steps.falls()),
        troubled_(steps.trouble().has_value()) {}

  // Before each step.
  void heed_others() {
    if (!life_.stop_requested()) return;
    life_ = client_.storage().life();
    steps_.storage_fell_back();
  }

  void operator()(const ListWatch::Pause& pause) { (void)runtime::Signal().wait(stop_, pause.until); }

  void operator()(const ListWatch::List& list) {
    const auto page = take(list.request);
    if (!page) return fail(page.error());
    if (list.is_whole) ask_ahead(list.request, next_page(*page));
    const std::uint64_t failures = steps_.failures();
    steps_.listed(*page, now());
    if (steps_.failures() != failures) ahead_.reset();  // Nobody asks for it any more.
    tell();
  }

  void operator()(const ListWatch::Watch& watch) {
    std::stop_source over;  // With us, or with the life of the storage that it was asked for in.
    const auto end_it = [&] { over.request_stop(); };
    const std::stop_callback on_stop(stop_, end_it);
    const std::stop_callback on_fall(life_, end_it);
    const auto stop = over.get_token();
    auto stream = client_.watch(resource_, watch.request, within(kAnswerTime, stop));
    if (!stream) return give_up(stream.error(), stop);
    steps_.opened(now());
    tell();
    while (listen(*stream, stop)) tell();
    tell();
  }

 private:
  Result<std::string> take(const ListRequest& request) {
    const bool is_asked = ahead_ && ahead_->is_for(request);
    auto page = is_asked ? ahead_->take() : client_.list(resource_, request, within(kAnswerTime, stop_));
    ahead_.reset();
    return page;
  }

  void ask_ahead(ListRequest next, std::string token) {
    if (token.empty()) return;
    next.token = std::move(token);
    ahead_.emplace(client_, resource_, std::move(next), stop_);
  }

  bool listen(http::Stream& stream, const std::stop_token& stop) {
    if (!steps_.brings_list()) return follow(stream, stop);
    const auto bytes = stream.read(steps_.quiet_until(), stop);
    if (bytes && !bytes->empty()) return steps_.heard(*bytes, now());
    end(bytes ? base::Status() : base::Status(std::unexpected(bytes.error())), stop);
    return false;
  }

  // Single events: decoded where they arrive, by the transport's thread, for waking ours costs more than that.
  bool follow(http::Stream& stream, const std::stop_token& stop) {
    bool goes_on = true;
    const auto ended = stream.follow([&](std::string_view bytes) { return goes_on = steps_.heard(bytes, now()); },
                                     steps_.quiet_until(), stop);
    if (goes_on) end(ended, stop);
    return false;
  }

  void end(const base::Status& ended, const std::stop_token& stop) {
    if (ended) {
      steps_.ended(now());
    } else if (ended.error().fault() == base::Fault::timeout) {
      steps_.silent(now());
    } else {
      give_up(ended.error(), stop);
    }
  }

  void fail(const Error& error) { give_up(error, stop_); }

  // Unless it was ended from here.
  void give_up(const Error& error, const std::stop_token& stop) {
    if (stop.stop_requested()) return;
    steps_.failed(error, now());
    tell();
  }

  // Each failure once, and the end of the last one.
  void tell() {
    release_memory();
    tell_others();
    if (steps_.failures() != told_) {
      base::log::warning("watch failed, will try again",
                         {{"resource", resource_.text()}, {"err", steps_.trouble()->message()}});
    } else if (troubled_ && !steps_.trouble()) {
      base::log::info("watch works again", {{"resource", resource_.text()}});
    }
    told_ = steps_.failures();
    troubled_ = steps_.trouble().has_value();
  }

  // A list passes through buffers many times the size of what is kept of it; glibc would hold on to them.
  void release_memory() {
    if (std::exchange(lists_, steps_.lists()) != steps_.lists()) runtime::release_memory();
  }

  void tell_others() {
    if (std::exchange(falls_, steps_.falls()) == steps_.falls()) return;
    base::log::warning("the storage has fallen back; everything is listed again", {{"resource", resource_.text()}});
    client_.storage().fell_back(life_);
    life_ = client_.storage().life();
  }

  Client& client_;
  const Resource& resource_;
  ListWatch& steps_;
  std::stop_token stop_;
  std::stop_token life_;  // Of the storage: what we know is of this one.
  std::uint64_t told_;
  std::uint64_t lists_;
  std::uint64_t falls_;
  bool troubled_;
  std::optional<PageAhead> ahead_;
};

}  // namespace

void run(Client& client, const Resource& resource, ListWatch& steps, std::stop_token stop) {
  Talk talk(client, resource, steps, stop);
  while (!stop.stop_requested()) {
    talk.heed_others();
    std::visit(talk, steps.next(now()));
  }
}

std::uint64_t random_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32U | device();
}

}  // namespace kube
