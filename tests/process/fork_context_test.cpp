// SPDX-License-Identifier: Apache-2.0
// fork() with clients on the user's io_context: the child shares its epoll set with the parent.
#include "process/belongings.hpp"
#include "support/recorder.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>

namespace holdfast::process {
namespace {

namespace asio = boost::asio;

class ForkedContext : public with_server {
protected:
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::shared_ptr<support::recorder> ear = std::make_shared<support::recorder>();

    options how() {
        options o = quick(url());
        o.observer = ear;
        return o;
    }
    void TearDown() override { EXPECT_EQ(ear->count(event_kind::disconnected), 0u); }

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
        patient.close_patience = support::far_too_long;
        client home{io->get_executor(), std::move(patient)};
        mutex stock{home, "stock"};
        const lease held = taken(stock);
        server().pause(); // the release is sent, and not answered
    }
    io->poll();
    const std::string wrong = found_by_fork([&](findings&) { io.reset(); });
    server().resume();
    EXPECT_EQ(wrong, "");
    run_until([&] { return ear->count(event_kind::released) == 1; });
}

} // namespace
} // namespace holdfast::process
