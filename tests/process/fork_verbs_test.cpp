// SPDX-License-Identifier: Apache-2.0
// In a child of fork() whatever the parent made is dead: it says so, and touches nothing.
#include "process/belongings.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <memory>

namespace holdfast::process {
namespace {

class ForkedVerbs : public with_server {
protected:
    static void expect_forked(findings& found, const named_calls<error_code>& verbs) {
        for (const auto& [name, verb] : verbs)
            found.expect(verb(), errc::forked, name);
    }
    /// What the child changed at the server, if anything.
    void expect_unharmed(belongings& my, const std::set<std::string>& connections_before) {
        EXPECT_TRUE(is_renewed("stock")) << "the lease's hold is not renewed any more";
        EXPECT_TRUE(is_renewed("shelf")) << "the thread's hold is not renewed any more";
        EXPECT_TRUE(is_renewed("prices")) << "the thread's read hold is not renewed any more";
        EXPECT_TRUE(is_renewed("line")) << "the thread's fair hold is not renewed any more";
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
    options brief() {
        options how = quick(url());
        how.lease_time = 600ms;
        return how;
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

} // namespace
} // namespace holdfast::process
