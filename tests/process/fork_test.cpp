// SPDX-License-Identifier: Apache-2.0
// In the child of a fork(), all objects of the parent are unusable: their functions report an
// error, and send nothing to the server.
#include "process/belongings.hpp"
#include "process/with_server.hpp"
#include "support/counter_verbs.hpp"
#include "support/recorder.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

namespace holdfast::process {
namespace {

class ForkedVerbs : public with_server {
protected:
    static void expect_forked(findings& found, const named_calls<error_code>& verbs) {
        for (const auto& [name, verb] : verbs)
            found.expect(verb(), errc::forked, name);
    }
    /// Checks that the child has changed nothing at the server.
    void expect_unharmed(belongings& my, const std::set<std::string>& connections_before) {
        EXPECT_THAT(not_renewed({"stock", "shelf", "prices", "line"}), testing::IsEmpty());
        EXPECT_TRUE(my.held.owns_lock());
        EXPECT_TRUE(my.shelf.is_held_by_this_thread());
        EXPECT_EQ(connections(), connections_before);
        my.other.lock();
        my.other.unlock();
        EXPECT_TRUE(std::ranges::includes(connections(), connections_before)) << "one was ended";
        my.shelf.unlock();
        my.line.unlock();
        my.prices.unlock_shared();
        my.held.unlock();
        EXPECT_TRUE(is_free("stock"));
        EXPECT_TRUE(is_free("shelf"));
        EXPECT_TRUE(is_free("line"));
        EXPECT_TRUE(is_free("prices"));
    }
    /// Renewed within a test, and not lost in a pause of a busy machine.
    options brief() {
        options how = quick(url());
        how.lease_time = 9s;
        return how;
    }
    /// Returns the holds that are not renewed any more. Watches all holds at the same time.
    std::set<std::string> not_renewed(std::set<std::string> names) {
        std::map<std::string, std::int64_t> left;
        (void)eventually([&] {
            std::erase_if(names, [&](const std::string& name) {
                const std::int64_t now = server().command({"PTTL", name}).integer;
                const auto known = left.find(name);
                const bool renewed =
                    known != left.end() && known->second > 0 && now > known->second;
                left[name] = now;
                return renewed;
            });
            return names.empty();
        });
        return names;
    }
};

TEST_F(ForkedVerbs, ThatBlockAnswerForked) {
    belongings my{brief()};
    const auto before = connections();
    const std::string wrong =
        found_by_fork([&](findings& found) { expect_forked(found, blocking_verbs(my)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed(my, before);
}

TEST_F(ForkedVerbs, ThatDoNotBlockAnswerForked) {
    belongings my{brief()};
    const auto before = connections();
    const std::string wrong =
        found_by_fork([&](findings& found) { expect_forked(found, asynchronous_verbs(my)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed(my, before);
}

TEST_F(ForkedVerbs, CompleteWhereTheParentUsedTheSystemsThreadsToo) {
    belongings my{brief()};
    EXPECT_EQ(thrown_by([] { soon(lease{}.async_unlock(asio::use_future)); }).code,
              errc::not_owner);
    const std::string wrong =
        found_by_fork([&](findings& found) { expect_forked(found, asynchronous_verbs(my)); });
    EXPECT_EQ(wrong, "");
}

TEST_F(ForkedVerbs, CompleteOnTheHandlersExecutor) {
    belongings my{brief()};
    const std::string wrong = found_by_fork([&](findings& found) {
        asio::io_context io;
        error_code told;
        my.stock.async_lock(asio::bind_executor(io, [&](error_code ec, lease) { told = ec; }));
        found.expect(!told, "it completes inside the call that starts it");
        io.run_for(support::far_too_long);
        found.expect(told, errc::forked, "async_lock()");
    });
    EXPECT_EQ(wrong, "");
}

TEST_F(ForkedVerbs, ThatCannotFailSayNothingIsHeld) {
    belongings my{brief()};
    const std::stop_token lost = my.held.lost();
    const auto before = connections();
    const std::string wrong = found_by_fork([&](findings& found) {
        found.expect(!my.shelf.is_held_by_this_thread(), "is_held_by_this_thread()");
        found.expect(my.shelf.hold_count() == 0, "hold_count()");
        found.expect(!my.held.owns_lock(), "owns_lock()");
        found.expect(my.held.remaining() == 0ms, "remaining()");
        found.expect(my.held.lost().stop_requested(), "lost()");
        found.expect(my.held.in_danger().stop_requested(), "in_danger()");
        found.expect(my.held.name() == "stock", "name()");
        found.expect(!my.held.owner().empty(), "owner()");
        my.shelf.unlock();
        my.held.unlock();
        my.home.close();
        my.home.close();
    });
    EXPECT_EQ(wrong, "");
    EXPECT_FALSE(lost.stop_requested());
    expect_unharmed(my, before);
}

TEST_F(ForkedVerbs, OfALockMadeInTheChildWithTheParentsClientAnswerForked) {
    belongings my{brief()};
    const auto before = connections();
    const std::string wrong = found_by_fork([&](findings& found) {
        mutex late{my.home, "late"};
        found.expect(thrown_by([&] { late.lock(); }).code, errc::forked, "lock()");
        const client moved{std::move(my.home)};
        found.expect(moved.id().size() == 36, "id()");
    });
    EXPECT_EQ(wrong, "");
    expect_unharmed(my, before);
}

TEST_F(ForkedVerbs, SayWhatToDoInstead) {
    belongings my{brief()};
    const std::string wrong = found_by_fork([&](findings& found) {
        const std::string words = thrown_by([&] { my.stock.lock(); }).text;
        found.expect(words.find("fork()") != words.npos, words);
        found.expect(words.find("use one that this process made") != words.npos, words);
    });
    EXPECT_EQ(wrong, "");
}

TEST_F(ForkedVerbs, DestructorsTouchNothing) {
    auto my = std::make_unique<belongings>(brief());
    const auto before = connections();
    EXPECT_EQ(found_by_fork([&](findings&) { my.reset(); }), "");
    expect_unharmed(*my, before);
}

TEST_F(ForkedVerbs, AssignmentsTouchNothing) {
    belongings my{brief()};
    const auto before = connections();
    const std::string wrong = found_by_fork([&](findings& found) {
        my.held = lease{};
        found.expect(my.held.name().empty(), "the lease is still there");
        my.home = client{quick(url())};
        mutex fresh{my.home, "fresh"};
        fresh.lock();
        fresh.unlock();
    });
    EXPECT_EQ(wrong, "");
    expect_unharmed(my, before);
}

// A client made after fork() is one like any other: it contends with the parent's.

class ForkedContention : public with_server {};

TEST_F(ForkedContention, AChildsClientFindsTheParentsHoldsBusy) {
    belongings my{quick(url())};
    const std::string wrong = found_by_fork([&](findings& found) {
        client own{quick(url())};
        found.expect(own.id() != my.home.id(), "both have one identity");
        mutex stock{own, "stock"}, shelf{own, "shelf"}, other{own, "other"};
        found.expect(!stock.try_lock(), "it takes what the parent's lease holds");
        found.expect(!shelf.try_lock_for(50ms), "it takes what the parent's thread holds");
        found.expect(!shelf.is_held_by_this_thread(), "it holds what the parent's thread holds");
        found.expect(stock.is_locked(), "it does not see the parent's hold");
        found.expect(other.try_lock(), "it cannot take what is free");
        other.unlock();
    });
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(my.held.owns_lock());
    my.shelf.unlock();
}

TEST_F(ForkedContention, AChildWaitsForItsParentsRelease) {
    belongings my{quick(url())};
    std::jthread releaser{[&] {
        EXPECT_TRUE(eventually([&] { return is_waited_for("stock"); }));
        my.held.unlock();
    }};
    const std::string wrong = found_by_fork([&](findings& found) {
        client own{quick(url())};
        mutex stock{own, "stock"};
        found.expect(stock.try_lock_for(support::far_too_long), "it was never free");
        stock.unlock();
    });
    releaser.join();
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(is_free("stock"));
    my.shelf.unlock();
}

TEST_F(ForkedContention, WhatAChildLeavesHeldEndsWithItsLease) {
    client home{quick(url())};
    mutex stock{home, "stock"};
    (void)stock.is_locked();
    const std::string wrong = found_by_fork([&](findings&) {
        client own{quick(url())};
        mutex of_child{own, "stock"};
        of_child.lock();
        ::_exit(0);
    });
    EXPECT_EQ(wrong, "");
    EXPECT_FALSE(stock.try_lock());
    outlive_leases();
    EXPECT_TRUE(stock.try_lock());
    stock.unlock();
}

TEST_F(ForkedContention, AChildsChildIsAnotherOne) {
    belongings my{quick(url())};
    const std::string wrong = found_by_fork([&](findings& found) {
        belongings childs{[&] {
            options how = quick(url());
            how.prefix = "child:";
            return how;
        }()};
        const std::string in_its_child = found_by_fork([&](findings& deeper) {
            for (belongings* each : {&my, &childs})
                for (const auto& [name, verb] : blocking_verbs(*each))
                    deeper.expect(verb(), errc::forked, name);
            client own{quick(url())};
            deeper.expect(own.id() != my.home.id() && own.id() != childs.home.id(),
                          "two have one identity");
            mutex stock{own, "child:stock"};
            deeper.expect(!stock.try_lock(), "it takes what its parent holds");
        });
        found.expect(in_its_child.empty(), in_its_child);
        found.expect(childs.held.owns_lock(), "its child took its hold");
        childs.shelf.unlock();
    });
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(my.held.owns_lock());
    my.shelf.unlock();
}

TEST_F(ForkedContention, ManyChildrenCountWithoutALoss) {
    constexpr int children = 6, rounds = 40;
    client home{quick(url())};
    mutex stock{home, "stock"};
    (void)stock.is_locked(); // connected before they are made
    std::vector<std::thread> forkers;
    std::vector<std::string> wrong(children);
    for (std::string& mine : wrong)
        forkers.emplace_back([&] {
            mine = found_by_fork([&](findings&) {
                client own{quick(url())};
                mutex of_child{own, "stock"};
                support::redis_connection counter{server().socket_path()};
                for (int i = 0; i < rounds; ++i) {
                    const std::scoped_lock inside{of_child};
                    const std::string seen = counter.command({"GET", "count"}).text;
                    const int next = seen.empty() ? 1 : std::stoi(seen) + 1;
                    counter.command({"SET", "count", std::to_string(next)});
                }
            });
        });
    for (std::thread& each : forkers)
        each.join();
    for (const std::string& each : wrong)
        EXPECT_EQ(each, "");
    EXPECT_EQ(server().command({"GET", "count"}).text, std::to_string(children * rounds));
}

// fork() with clients on the user's io_context: the child shares its epoll set with the parent.

namespace asio = boost::asio;

class ForkedContext : public with_server {
protected:
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::shared_ptr<support::recorder> subscriber = std::make_shared<support::recorder>();

    options how() {
        options o = quick(url());
        o.observer = subscriber;
        return o;
    }
    void TearDown() override { EXPECT_EQ(subscriber->count(event_kind::disconnected), 0u); }

    /// Runs the context on this thread, for it has no other.
    template <typename Predicate>
    void run_until(Predicate holds) {
        const auto turn = [&] {
            io->restart();
            io->poll();
            return holds();
        };
        EXPECT_TRUE(eventually(turn)) << "the parent is not told what its socket and timer bring";
    }
    lease taken(mutex& m) {
        std::future<lease> coming = m.async_lock(asio::use_future);
        run_until([&] { return support::is_ready(coming); });
        return soon(std::move(coming));
    }
    void expect_parents_alone(const std::function<void()>& what_the_child_does) {
        const auto before = connections();
        EXPECT_EQ(found_by_fork([&](findings&) { what_the_child_does(); }), "");
        EXPECT_EQ(connections(), before);
    }
};

TEST_F(ForkedContext, OfAClientThatWasNotUsedYetIsTheParentsAlone) {
    auto home = std::make_unique<client>(io->get_executor(), how());
    expect_parents_alone([&] { home.reset(); });
    mutex stock{*home, "stock"};
    const lease held = taken(stock);
    std::future<std::optional<lease>> in_vain = stock.async_try_lock_for(20ms, asio::use_future);
    run_until([&] { return support::is_ready(in_vain); });
    EXPECT_FALSE(soon(std::move(in_vain)));
}

TEST_F(ForkedContext, OfAClientThatHoldsNothingIsTheParentsAlone) {
    auto home = std::make_unique<client>(io->get_executor(), how());
    auto stock = std::make_unique<mutex>(*home, "stock");
    { const lease held = taken(*stock); }
    run_until([&] { return is_free("stock"); });
    expect_parents_alone([&] {
        stock.reset();
        home.reset();
        io.reset();
    });
    EXPECT_TRUE(taken(*stock).owns_lock());
}

TEST_F(ForkedContext, OfAClientThatHoldsIsTheParentsAlone) {
    auto home = std::make_unique<client>(io->get_executor(), how());
    auto stock = std::make_unique<mutex>(*home, "stock");
    auto held = std::make_unique<lease>(taken(*stock));
    expect_parents_alone([&] {
        held.reset();
        stock.reset();
        home.reset();
        io.reset();
    });
    held.reset();
    run_until([&] { return is_free("stock"); });
}

TEST_F(ForkedContext, DestroyedFirstIsTheParentsAlone) {
    auto home = std::make_unique<client>(io->get_executor(), how());
    auto stock = std::make_unique<mutex>(*home, "stock");
    auto held = std::make_unique<lease>(taken(*stock));
    expect_parents_alone([&] {
        io.reset();
        held.reset();
        stock.reset();
        home.reset();
    });
    held.reset();
    run_until([&] { return is_free("stock"); });
}

TEST_F(ForkedContext, OfAClientThatClosesIsTheParentsAlone) {
    {
        options patient = how();
        patient.close_timeout = support::far_too_long;
        client home{io->get_executor(), std::move(patient)};
        mutex stock{home, "stock"};
        const lease held = taken(stock);
        server().pause(); // the release is sent, and not answered
    }
    io->poll();
    const std::string wrong = found_by_fork([&](findings&) { io.reset(); });
    server().resume();
    EXPECT_EQ(wrong, "");
    run_until([&] { return subscriber->count(event_kind::released) == 1; });
}

// In a child of fork() the parent's counters are as dead as its locks.

class ForkedCounters : public with_server {
protected:
    void SetUp() override {
        with_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        options how = quick(url());
        how.lease_time = 9s;
        home_.emplace(how);
        my_ = std::make_unique<support::counters>(*home_);
        my_->seats.try_set_permits(3);
        my_->leases.set_permits(3);
        my_->gate.try_set_count(3);
        my_->mails.set_rate({.permits = 3, .per = 1h});
        held_ = my_->leases.acquire(2);
    }

    static void expect_forked(findings& found, const support::counter_verbs& verbs) {
        for (const auto& [name, verb] : verbs)
            found.expect(verb(), errc::forked, name);
    }
    /// The child has changed nothing, and the parent goes on.
    void expect_unharmed() {
        const auto end = [this] { return std::chrono::steady_clock::now() + held_.remaining(); };
        EXPECT_TRUE(eventually([end, before = end()] { return end() > before + 100ms; }))
            << "the permits are not renewed any more";
        EXPECT_EQ(my_->seats.available_permits(), 3);
        EXPECT_EQ(my_->leases.available_permits(), 1);
        EXPECT_EQ(my_->gate.count(), 3);
        EXPECT_EQ(my_->mails.available_permits(), 3);
        held_.unlock();
        EXPECT_EQ(my_->leases.available_permits(), 3);
    }

    std::optional<client> home_;
    std::unique_ptr<support::counters> my_;
    lease held_;
};

TEST_F(ForkedCounters, AnswerForkedToWhoeverBlocks) {
    const std::string wrong = found_by_fork(
        [&](findings& found) { expect_forked(found, support::blocking_counter_verbs(*my_)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

TEST_F(ForkedCounters, AnswerForkedToWhoeverDoesNot) {
    const std::string wrong = found_by_fork(
        [&](findings& found) { expect_forked(found, support::asynchronous_counter_verbs(*my_)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

TEST_F(ForkedCounters, AreDestroyedInTheChildAndStayInTheParent) {
    const std::string wrong = found_by_fork([&](findings& found) {
        held_ = lease{};
        my_.reset();
        home_.emplace(quick(url()));
        counting_semaphore fresh{*home_, "fresh"};
        fresh.release();
        found.expect(fresh.try_acquire(), "what the child made is of no use");
    });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

// fork() while other threads are inside the library: the child has what they locked, locked, and
// nobody who unlocks it.

/// Threads that call it over and over, while this lives.
class busy {
public:
    template <typename Call>
    explicit busy(Call call, int threads = 2) {
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([this, call] {
                while (!enough_)
                    call();
            });
    }
    busy(const busy&) = delete;
    ~busy() {
        enough_ = true;
        for (std::thread& each : threads_)
            each.join();
    }

private:
    std::atomic<bool> enough_ = false;
    std::vector<std::thread> threads_;
};

/// As exit() begins: what is thread_local goes. What is static stays, for the parent needs it.
[[noreturn]] void end_this_thread() {
    std::atexit([] { ::_exit(0); });
    std::exit(0);
}

class ForkedThreads : public with_server {
protected:
    static constexpr int forks = 30;

    static void expect_well(const std::function<void(findings&)>& look) {
        for (int i = 0; i < forks; ++i)
            ASSERT_EQ(found_by_fork(look), "") << "in child " << i;
    }
};

TEST_F(ForkedThreads, InsideEveryVerbDoNoHarm) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the child would wait for the locks of AddressSanitizer's own allocator";
#endif
    belongings my{quick(url())};
    mutex hall{my.home, "hall"};
    const busy locking{[&] { const std::scoped_lock inside{hall}; }};
    const busy asking{[&] { (void)my.stock.remaining_lease(); }, 1};
    for (const auto verbs : {blocking_verbs, asynchronous_verbs})
        expect_well([&](findings& found) {
            for (const auto& [name, verb] : verbs(my))
                found.expect(verb(), errc::forked, name);
            client fresh{quick(url())};
            mutex own{fresh, "childs"};
            const std::scoped_lock inside{own};
        });
    EXPECT_TRUE(my.held.owns_lock());
    my.shelf.unlock();
}

TEST_F(ForkedThreads, ThatAskWhoHoldsDoNotBlockTheChild) {
    belongings my{quick(url())};
    const busy asking{[&] {
        (void)my.shelf.is_held_by_this_thread();
        (void)my.held.remaining();
    }};
    expect_well([&](findings& found) {
        found.expect(!my.shelf.is_held_by_this_thread(), "is_held_by_this_thread()");
        found.expect(!my.held.owns_lock(), "owns_lock()");
        found.expect(my.held.lost().stop_requested(), "lost()");
        found.expect(my.held.in_danger().stop_requested(), "in_danger()");
        my.held = lease{};
    });
    my.shelf.unlock();
}

TEST_F(ForkedThreads, ThatAskWhoHoldsDoNotBlockTheEndOfAContext) {
    auto io = std::make_unique<boost::asio::io_context>(1);
    client home{io->get_executor(), quick(url())};
    mutex stock{home, "stock"};
    const busy asking{[&] { (void)stock.is_held_by_this_thread(); }};
    expect_well([&](findings&) { io.reset(); });
}

TEST_F(ForkedThreads, ThatHoldInTheParentMayEndInTheChild) {
    belongings my{quick(url())};
    const busy asking{[&] { (void)my.shelf.is_held_by_this_thread(); }};
    expect_well([](findings&) { end_this_thread(); });
    EXPECT_TRUE(my.shelf.is_held_by_this_thread());
    EXPECT_FALSE(is_free("shelf"));
    my.shelf.unlock();
}

} // namespace
} // namespace holdfast::process
