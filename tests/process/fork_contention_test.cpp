// SPDX-License-Identifier: Apache-2.0
// A client made after fork() is one like any other: it contends with the parent's.
#include "process/belongings.hpp"

#include <mutex>
#include <thread>

#include <unistd.h>

namespace holdfast::process {
namespace {

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
    std::thread releaser{[&] {
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

} // namespace
} // namespace holdfast::process
