// SPDX-License-Identifier: Apache-2.0
#include "bench/renewal/watcher.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace holdfast::bench {
namespace {

/// Channel of the server's notifications about changes of a key's TTL. Grants and renewals change
/// the TTL.
constexpr std::string_view channel = "__keyevent@0__:expire";

/// Returns the number of a lock of this benchmark. Returns less than 0 for any other key.
int lock_in(const redisReply& message) {
    const redisReply& key = *message.element[2];
    const std::string_view name{key.str, key.len};
    const std::string_view prefix = "bench:";
    int number = -1;
    if (name.starts_with(prefix))
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    return number;
}

} // namespace

watcher::watcher(const arena& where, int leases)
    : control_{where.connect()}
    , ear_{where.connect()}
    , leases_(static_cast<std::size_t>(leases)) {
    ask(control_, {"CONFIG", "SET", "notify-keyspace-events", "Eg"});
    ask(ear_, {"SUBSCRIBE", channel});
    listener_ = std::jthread{[this] { listen(); }};
}

watcher::~watcher() {
    try {
        ask(control_, {"CONFIG", "SET", "notify-keyspace-events", ""});
    } catch (const std::exception&) {
        // The server has ended, so its setting need not be reset.
    }
    ::shutdown(ear_->fd, SHUT_RDWR);
}

void watcher::listen() {
    for (void* raw = nullptr; redisGetReply(ear_.get(), &raw) == REDIS_OK && raw;) {
        const reply message{static_cast<redisReply*>(raw)};
        const int lock = message->elements == 3 ? lock_in(*message) : -1;
        if (lock >= 0 && lock < static_cast<int>(leases_.size()))
            heard(lock, stopwatch::now());
    }
}

void watcher::heard(int lease, stopwatch::time_point now) {
    seen& it = leases_[static_cast<std::size_t>(lease)];
    if (it.last != stopwatch::time_point{}) {
        longest_ = std::max(longest_.load(), nanoseconds{now - it.last}.count());
        renewed_ += it.renewed ? 0 : 1;
        it.renewed = true;
    }
    it.last = now;
}

} // namespace holdfast::bench
