// SPDX-License-Identifier: Apache-2.0
// fork() while other threads are inside the library: the child has what they locked, locked, and
// nobody who unlocks it.
#include "process/belongings.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include <unistd.h>

namespace holdfast::process {
namespace {

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
