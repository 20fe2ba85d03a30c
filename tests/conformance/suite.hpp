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

/// Redisson's own counts with HOLDFAST_HEAVY=1; else what fits into every run.
inline int scaled(int usual, int heavy) {
    return std::getenv("HOLDFAST_HEAVY") != nullptr ? heavy : usual;
}

inline error_code unlocked(basic_mutex& lock) {
    error_code ec;
    lock.unlock(ec);
    return ec;
}

/// Polls that take that long find nothing in a test: whatever is found was told.
inline constexpr duration hardly_ever = 10min;

/// Polls of spin locks, so that they find soon what they wait for.
inline constexpr backoff frequent{1ms, 20ms};

class suite : public ::testing::TestWithParam<store_kind> {
protected:
    /// What a test calls a mutex is a lock of the kind that it runs with: the contract is told
    /// once.
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

    /// Whether somebody comes to wait for a lock: listens, or polls where nobody is told.
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

    /// Asks often, so that what only a poll can notice is noticed soon.
    client make_client(options how = {}) {
        if (how.poll_bound == options{}.poll_bound)
            how.poll_bound = 25ms;
        store().reach(how);
        return client{std::move(how)};
    }

    /// The requests about locks that `work` makes, whoever sends them.
    template <typename Work>
    std::size_t requests_during(Work work) {
        const std::size_t before = store().requests();
        work();
        return store().requests() - before;
    }

private:
    std::unique_ptr<store_under_test> store_;
};

/// A client whose clock the test moves, together with the store's.
class moving_client {
public:
    moving_client(store_under_test& store, options how)
        : store_{store}
        , client_{loop_.io().get_executor(), time_, reached(store, std::move(how))} {}
    ~moving_client() { client_.close(); }

    client& get() { return client_; }

    /// Time passes for both, in steps shorter than a renewal's period, and each time the hold is
    /// seen renewed before it goes on.
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
        // It is written behind a caller's back: what is under way when the clock jumps is late.
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
/// Only on those that have all of these kinds.
#define HOLDFAST_ON_EACH_STORE_THAT_HAS(fixture, ...)                                              \
    INSTANTIATE_TEST_SUITE_P(Stores, fixture, ::testing::ValuesIn(stores_that_have(__VA_ARGS__)),  \
                             name_of)
#define HOLDFAST_ON_EACH_STORE_WITH(fixture, ...)                                                  \
    INSTANTIATE_TEST_SUITE_P(Stores, fixture, ::testing::ValuesIn(stores_with({__VA_ARGS__})),     \
                             name_of)

/// For a test that is about what not every store does: a trait of store_under_test.
#define HOLDFAST_NEEDS(trait)                                                                      \
    if (!(store().trait()))                                                                        \
    GTEST_SKIP() << "not of this store: " #trait
#define HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN                                                         \
    if (store().leases_by_session())                                                               \
    GTEST_SKIP() << "a lease is the session's here"
#define HOLDFAST_NEEDS_LOCKS(kind)                                                                 \
    if (!GetParam().has(kind))                                                                     \
    GTEST_SKIP() << "this store has no such locks"
