// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/store_under_test.hpp"
#include "support/clocks.hpp"
#include "support/eventually.hpp"
#include "support/loop_thread.hpp"
#include "support/redis_server.hpp"

#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::conformance {

using namespace std::chrono_literals;

/// Returns the size of a test: `heavy`, as in Redisson's own tests, if HOLDFAST_HEAVY is set, else
/// `usual`.
inline int scaled(int usual, int heavy) {
    return std::getenv("HOLDFAST_HEAVY") != nullptr ? heavy : usual;
}

inline error_code unlocked(basic_mutex& lock) {
    error_code ec;
    lock.unlock(ec);
    return ec;
}

/// Poll interval that is longer than any test, so that waiters depend on notifications.
inline constexpr duration hardly_ever = 10min;

/// Short poll intervals for spin locks.
inline constexpr backoff frequent{1ms, 20ms};

class suite : public ::testing::TestWithParam<store_kind> {
protected:
    /// Lock of the kind with which the test runs (`GetParam().locks`). So the same tests check all
    /// kinds.
    class mutex : public basic_mutex {
    public:
        mutex(client& home, lock_name name, mutex_options how = {},
              recursion again = recursion::refused)
            : basic_mutex{home, std::move(name), setup(how, again)} {}
        mutex(client& home, lock_name name, deferred_release_t)
            : mutex{home, std::move(name), {.deferred = true}} {}

    private:
        static detail::lock_setup setup(const mutex_options& how, recursion again) {
            detail::lock_setup made = detail::setup_of(how, again);
            made.kind = GetParam().locks;
            if (made.kind == lock_kind::spin)
                made.polls = frequent;
            return made;
        }
    };
    class recursive_mutex : public mutex {
    public:
        recursive_mutex(client& home, lock_name name, mutex_options how = {})
            : mutex{home, std::move(name), how, recursion::counted} {}
    };

    static bool are(lock_kind kind) { return GetParam().locks == kind; }

    /// Returns whether somebody begins to wait for a lock: by a subscription, or by polls for a
    /// spin lock.
    bool somebody_waits() {
        const std::size_t before = store().requests();
        return support::eventually([&] {
            return are(lock_kind::spin) ? store().requests() > before + 2 : store().listeners() > 0;
        });
    }

    void SetUp() override {
        try {
            store_ = GetParam().make();
            store_->keep(GetParam().locks);
        } catch (const support::server_unavailable& why) {
            if (support::servers_are_required())
                FAIL() << why.what();
            GTEST_SKIP() << why.what();
        }
    }

    store_under_test& store() { return *store_; }

    /// Returns a client that polls often, for changes without a notification.
    client make_client(options how = {}) {
        if (how.poll_bound == options{}.poll_bound)
            how.poll_bound = 25ms;
        store().reach(how);
        return client{std::move(how)};
    }

    /// Returns the number of requests about locks, from all clients, while `work` runs.
    template <typename Work>
    std::size_t requests_during(Work work) {
        const std::size_t before = store().requests();
        work();
        return store().requests() - before;
    }

private:
    std::unique_ptr<store_under_test> store_;
};

/// Client whose clock the test moves together with the store's clock.
class moving_client {
public:
    moving_client(store_under_test& store, options how)
        : store_{store}
        , client_{loop_.io().get_executor(), time_, reached(store, std::move(how))} {}
    ~moving_client() { client_.close(); }

    client& get() { return client_; }

    /// Moves both clocks in `steps` steps of a third of the lease. After each step, waits until the
    /// lock was renewed.
    void pass_renewing(const basic_mutex& held, duration lease, int steps) {
        for (int i = 0; i < steps; ++i) {
            const duration step = lease / 3 + 1ms;
            store_.pass(step);
            time_.shift(step);
            ASSERT_TRUE(support::eventually([&] {
                const std::optional<duration> left = held.remaining_lease();
                return left && *left > lease * 9 / 10;
            })) << "not renewed in step "
                << i;
        }
    }
    void pass(duration by) {
        store_.pass(by);
        time_.shift(by);
    }

private:
    static options reached(store_under_test& store, options how) {
        store.reach(how);
        how.executor_is_serial = true;
        // Send no client information in the background: a request would time out when the clock
        // jumps.
        how.announce = false;
        return how;
    }

    store_under_test& store_;
    support::loop_thread loop_;
    support::shifted_clock time_{loop_.io().get_executor()};
    client client_;
};

inline std::string name_of(const ::testing::TestParamInfo<store_kind>& info) {
    std::string name = info.param.label;
    if (info.param.locks != lock_kind::plain)
        name += '_' + label_of(info.param.locks);
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return name;
}

} // namespace holdfast::conformance

#define HOLDFAST_ON_EACH_STORE(fixture)                                                            \
    INSTANTIATE_TEST_SUITE_P(Stores, fixture, ::testing::ValuesIn(stores()), name_of)
/// Runs a fixture only on the stores that have all of these kinds.
#define HOLDFAST_ON_EACH_STORE_THAT_HAS(fixture, ...)                                              \
    INSTANTIATE_TEST_SUITE_P(Stores, fixture, ::testing::ValuesIn(stores_that_have(__VA_ARGS__)),  \
                             name_of)
#define HOLDFAST_ON_EACH_STORE_WITH(fixture, ...)                                                  \
    INSTANTIATE_TEST_SUITE_P(Stores, fixture, ::testing::ValuesIn(stores_with({__VA_ARGS__})),     \
                             name_of)

/// Skips a test unless the store has this trait, a function of `store_under_test`.
#define HOLDFAST_NEEDS(trait)                                                                      \
    if (!(store().trait()))                                                                        \
    GTEST_SKIP() << "not of this store: " #trait
#define HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN                                                         \
    if (store().leases_by_session())                                                               \
    GTEST_SKIP() << "a lease is the session's here"
#define HOLDFAST_NEEDS_LOCKS(kind)                                                                 \
    if (!GetParam().has(kind))                                                                     \
    GTEST_SKIP() << "this store has no such locks"
