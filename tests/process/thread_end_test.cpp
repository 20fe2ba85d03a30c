// SPDX-License-Identifier: Apache-2.0
// A thread that ends while it holds: nobody is left who could release.
#include "process/belongings.hpp"
#include "support/recorder.hpp"

#include <thread>

namespace holdfast::process {
namespace {

class ThreadEnd : public with_server {
protected:
    std::shared_ptr<support::recorder> subscriber = std::make_shared<support::recorder>();

    options heard() {
        options how = quick(url());
        how.observer = subscriber;
        return how;
    }
    /// What a thread does before it ends.
    template <typename Work>
    static void in_a_thread(Work work) {
        std::thread{work}.join();
    }
};

TEST_F(ThreadEnd, WhileHoldingIsTold) {
    client home{heard()};
    recursive_mutex stock{home, "stock"};
    in_a_thread([&] {
        stock.lock();
        stock.lock();
    });
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(subscriber->last(event_kind::abandoned)->name, "stock");
    EXPECT_FALSE(is_free("stock")) << "what it was in the middle of may be half done";
}

TEST_F(ThreadEnd, WhileHoldingEndsTheRenewal) {
    options how = heard();
    how.lease_time = 300ms;
    client home{std::move(how)};
    mutex stock{home, "stock"};
    in_a_thread([&] {
        stock.lock();
        EXPECT_TRUE(is_renewed("stock"));
    });
    EXPECT_TRUE(eventually([&] { return is_free("stock"); })) << "it is renewed for ever";
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::lost) == 1; }));
    EXPECT_EQ(subscriber->last(event_kind::lost)->cause, event_cause::term_ended);
}

TEST_F(ThreadEnd, WhileHoldingFreesTheLockWhenTheServersClockPassesTheLease) {
    client home{heard()}, other{quick(url())};
    mutex stock{home, "stock"}, of_other{other, "stock"};
    in_a_thread([&] { stock.lock(); });
    std::thread waiter{[&] {
        EXPECT_TRUE(of_other.try_lock_for(support::far_too_long));
        of_other.unlock();
    }};
    EXPECT_TRUE(eventually([&] { return is_waited_for("stock"); }));
    outlive_leases();
    waiter.join();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEnd, WhileHoldingIsNotWaitedForByClose) {
    options patient = heard();
    patient.close_timeout = 1h;
    client home{std::move(patient)};
    mutex stock{home, "stock"};
    in_a_thread([&] { stock.lock(); });
    soon(home.async_close(asio::use_future)); // nobody can release it any more
    EXPECT_FALSE(is_free("stock"));
}

TEST_F(ThreadEnd, LeavesTheHoldsOfOthersAlone) {
    client home{heard()};
    mutex stock{home, "stock"}, shelf{home, "shelf"};
    shelf.lock();
    std::optional<lease> held;
    in_a_thread([&] {
        stock.lock();
        stock.unlock();
        held = soon(stock.async_lock(asio::use_future)); // a lease belongs to no thread
    });
    EXPECT_EQ(subscriber->count(event_kind::abandoned), 0u);
    EXPECT_TRUE(held->owns_lock());
    EXPECT_TRUE(shelf.is_held_by_this_thread());
    shelf.unlock();
    held->unlock();
    EXPECT_TRUE(support::eventually([&] { return subscriber->count(event_kind::released) == 3; }));
}

TEST_F(ThreadEnd, WithHoldsOfSeveralClientsTellsEach) {
    const auto other_subscriber = std::make_shared<support::recorder>();
    options others = quick(url());
    others.observer = other_subscriber;
    client home{heard()}, other{std::move(others)};
    mutex stock{home, "stock"}, shelf{other, "shelf"};
    in_a_thread([&] {
        stock.lock();
        shelf.lock();
    });
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_TRUE(eventually([&] { return other_subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(other_subscriber->last(event_kind::abandoned)->name, "shelf");
}

/// Uses the lock when its thread ends.
struct last_user {
    mutex* of = nullptr;
    ~last_user() {
        if (of == nullptr)
            return;
        of->lock();
        of->unlock();
    }
};
thread_local last_user this_threads_last;

TEST_F(ThreadEnd, ALockMayBeUsedByWhatIsDestroyedWithTheThread) {
    client home{heard()};
    mutex stock{home, "stock"}, first{home, "first"};
    in_a_thread([&] {
        this_threads_last.of = &stock; // before the library knows this thread: destroyed after that
        first.lock();
        first.unlock();
    });
    EXPECT_TRUE(is_free("stock"));
    EXPECT_EQ(subscriber->count(event_kind::released), 2u);
}

TEST_F(ThreadEnd, TakesAClientOfItsOwnAlong) {
    const auto use = [&](bool holding) {
        in_a_thread([&, how = quick(url())] {
            thread_local client own{how};
            mutex stock{own, "stock"};
            stock.lock();
            if (!holding)
                stock.unlock();
        });
    };
    use(false);
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
    use(true);
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
    outlive_leases();
    use(false);
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEnd, TakesAClientThatIsYoungerThanItsFirstHoldAlong) {
    client home{heard()};
    mutex first{home, "first"};
    in_a_thread([&, how = quick(url())] {
        first.lock();
        first.unlock();
        thread_local client own{how};
        mutex stock{own, "stock"};
        stock.lock();
    });
    home.close();
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
}

} // namespace
} // namespace holdfast::process
