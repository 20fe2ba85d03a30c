// SPDX-License-Identifier: Apache-2.0
// Measures the server's cost of waiters. A lock is held for the whole turn. All waiters want it,
// each through its own client or session.
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"
#include "bench/database/contenders.hpp"
#include "bench/database/database.hpp"
#include "bench/database/patient_shed_lock.hpp"

#include <holdfast/client.hpp>

#include <deque>
#include <future>
#include <limits>
#include <thread>

namespace holdfast::bench {
namespace {

class waiting_crowd : public contender {
public:
    explicit waiting_crowd(int waiters)
        : waiters_{waiters} {}

    /// Runs a turn and counts the waiters. A sample is the wait of one waiter.
    tally run(nanoseconds length) final {
        hold_back();
        auto all = std::async(std::launch::async, [&] {
            // Each waiter waits once: the first grant comes at the end of the turn.
            return in_threads(waiters_, length / 2,
                              [this](int i) { return time_of([&] { wait_and_leave(i); }); });
        });
        std::this_thread::sleep_for(length);
        let_go_on();
        return all.get();
    }

    /// Returns no upper limit, because waiters poll and holders renew.
    claim scripts_for(const tally& all) const final {
        return {2 * all.done + 2, std::numeric_limits<long long>::max()};
    }

private:
    virtual void hold_back() = 0;
    virtual void let_go_on() = 0;
    virtual void wait_and_leave(int which) = 0;

    const int waiters_;
};

struct one_client {
    explicit one_client(const std::string& url)
        : home{url} {}
    client home;
    mutex lock{home, name_of_lock(0)};
};

class waiting_clients final : public waiting_crowd {
public:
    explicit waiting_clients(const arena& where)
        : waiting_crowd{where.at_once}
        , holder_{where.url()} {
        for (int i = 0; i < where.at_once; ++i)
            waiters_.emplace_back(where.url());
    }

private:
    void hold_back() override { holder_.lock.lock(); }
    void let_go_on() override { expect_unlocked(holder_.lock); }
    void wait_and_leave(int which) override {
        waiters_[which].lock.lock();
        expect_unlocked(waiters_[which].lock);
    }

    one_client holder_;
    std::deque<one_client> waiters_; // a deque does not move its elements
};

class waiting_sessions final : public waiting_crowd {
public:
    explicit waiting_sessions(const arena& where)
        : waiting_crowd{where.at_once}
        , holder_{database_of(*where.group), name_of_lock(0), "holder"} {
        for (int i = 0; i < where.at_once; ++i)
            waiters_.emplace_back(database_of(*where.group), name_of_lock(0),
                                  "waiter " + std::to_string(i));
    }

private:
    void hold_back() override { holder_.lock(); }
    void let_go_on() override { holder_.unlock(); }
    void wait_and_leave(int which) override {
        lock_patiently(waiters_[which]);
        waiters_[which].unlock();
    }

    shed_lock holder_;
    std::deque<shed_lock> waiters_; // a deque does not move its elements
};

} // namespace

made holdfast_waiters(const arena& where) {
    return std::make_unique<waiting_clients>(where);
}

made shed_lock_waiters(const arena& where) {
    return std::make_unique<waiting_sessions>(where);
}

} // namespace holdfast::bench
