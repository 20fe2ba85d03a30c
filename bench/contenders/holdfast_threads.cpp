// SPDX-License-Identifier: Apache-2.0
// holdfast in a program with threads: one client, and blocking calls of lock() and unlock().
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>

#include <deque>

namespace holdfast::bench {
namespace {

class clients_threads final : public contender {
public:
    template <typename... Kind>
    explicit clients_threads(const arena& where, Kind... kind)
        : client_{where.url()} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(client_, name_of_lock(i), kind...);
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(locks_.size()), length, [this](int i) {
            return time_of([&] {
                locks_[i].lock();
                expect_unlocked(locks_[i]);
            });
        });
    }

private:
    client client_;
    std::deque<mutex> locks_; // a deque does not move its elements
};

} // namespace

made holdfast_threads(const arena& where) {
    return std::make_unique<clients_threads>(where);
}

made holdfast_deferring(const arena& where) {
    return std::make_unique<clients_threads>(where, deferred_release);
}

} // namespace holdfast::bench
