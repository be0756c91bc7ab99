#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "kube/client.h"
#include "kube/list_watch.h"
#include "kube/store.h"

namespace kube {

// Talks to the server as `steps` says until stopped; logs when trouble comes and goes.
void run(Client& client, const Resource& resource, ListWatch& steps, std::stop_token stop);

std::uint64_t random_seed();

// How many objects make a page of about a megabyte: a kind whose objects are large says so by kPageSize.
template <typename T>
constexpr unsigned page_size_of() {
  if constexpr (requires { T::kPageSize; }) {
    return T::kPageSize;
  } else {
    return ListWatch::Options().page_size;
  }
}

// How the kind is written as a message, where it says so by kMessage; otherwise it is asked for as JSON.
template <typename T>
constexpr const json::Schema* schema_of() {
  if constexpr (requires { T::kMessage; }) {
    return &T::kMessage;
  } else {
    return nullptr;
  }
}

// A live copy of one kind, kept by a thread of its own from construction to destruction. `changed` is raised whenever
// there is something new in latest(); it and the client must outlive the reflector.
//
//   kube::Reflector<api::Service> services(client, {"", "v1", "services", true}, api::decode_service, changed);
template <typename T>
class Reflector {
 public:
  Reflector(Client& client, Resource resource, typename Store<T>::Decoder decode, runtime::Signal& changed,
            Selection selection = {}, typename Store<T>::Same same = {}, base::TimePoint begin = {})
      : store_(std::move(decode), changed, std::move(same)),
        steps_({.selection = std::move(selection),
                .page_size = page_size_of<T>(),
                .begin = begin,
                .schema = schema_of<T>()},
               store_, random_seed()),
        client_(client),
        resource_(std::move(resource)) {
    start();
  }

  std::shared_ptr<const View<T>> latest() const { return store_.latest(); }

  base::TimePoint heard_at() const { return store_.heard_at(); }  // See Store.

  // Takes the newest list there is, whatever is known already; View::lists grows when it has come whole.
  void list_again() {
    stop();
    steps_.list_again();
    start();
  }

  // Ends the thread; the last view stays.
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void start() {
    thread_ = std::jthread([this](std::stop_token stop) { run(client_, resource_, steps_, std::move(stop)); });
  }

  Store<T> store_;
  ListWatch steps_;
  Client& client_;
  const Resource resource_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace kube
