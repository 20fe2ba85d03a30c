// SPDX-License-Identifier: Apache-2.0
// force_unlock() while the primary is dead and another server takes over.
#include "compose/composite_lock.hpp"
#include "front/requests.hpp"
#include "sync/lock_descriptor.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <list>
#include <string>

namespace holdfast::sync {
namespace {

/// Client of a store where another server takes over from a dead server.
class far_client {
public:
    far_client(asio::io_context& io, sim::sim_clock& time, memory::server& server)
        : made_{std::in_place, io.get_executor(), time, options_for(server)} {}

    operator client&() { return made_.value(); }
    void close() { made_.reset(); }

    fate always{};              ///< fate of each request to force a release that has no own fate
    std::deque<fate> planned{}; ///< fates of the next requests to force a release
    std::size_t forces = 0;     ///< number of requests to force a release

private:
    options options_for(memory::server& server) {
        options how;
        how.store = [this, &server](store_context context) {
            const auto faults = [this](const memory::request& r) { return next(r); };
            return std::make_unique<support::wrapped_store<locks_with_failover>>(
                server.connect(faults)(std::move(context)));
        };
        return how;
    }
    fate next(const memory::request& r) {
        if (r.what != verb::force)
            return {};
        ++forces;
        if (planned.empty())
            return always;
        const fate met = planned.front();
        planned.pop_front();
        return met;
    }

    std::optional<client> made_;
};

class ForceInFailover : public on_stage {
protected:
    ForceInFailover() = default;
    ~ForceInFailover() override {
        for (far_client& each : both)
            each.close();
        run_for(1h);
    }

    std::list<far_client> both;
    far_client& home = both.emplace_back(io, clock, server);
    actor& bob = enter();
    mutex his{bob, "stock"};
    const fate away{.refused = true};
    const std::string jvm = "9cd14d2c-0f9b-4d5c-9c4c-0e7a4c5a9a11:1";

    /// Forces the release in the way of `client::force_unlock()`.
    said<bool> forced(client& by, std::string only_from) {
        return begin(force_through_failover(by.engine(), {"stock"}, std::move(only_from)));
    }
    /// Forces the release in the way of `basic_mutex::force_unlock()`.
    said<bool> forced(std::shared_ptr<const lock_descriptor> lock) {
        return begin(force_through_failover(std::move(lock)));
    }
    static const std::shared_ptr<engine>& engine_of(client& one) { return one.engine(); }
    std::string holder(const char* name) const {
        const std::optional<holding> found = inspect(server, name);
        return found ? found->owners.at(0) : "nobody";
    }

private:
    said<bool> begin(asio::awaitable<bool> work) {
        said<bool> told;
        auto done = [tell = told.handler()](const std::exception_ptr& thrown, bool was_locked) {
            error_code why;
            try {
                if (thrown)
                    std::rethrow_exception(thrown);
            } catch (const boost::system::system_error& e) {
                why = e.code();
            }
            tell(why, was_locked);
        };
        asio::co_spawn(io, std::move(work), std::move(done));
        return told;
    }
};

TEST_F(ForceInFailover, WaitsForTheNewPrimary) {
    server.occupy("stock", 1h);
    home.always = away;
    const said<bool> any = forced(home, {});
    const said<bool> by_lock = forced(front::make_descriptor(engine_of(home), {"stock"}, {}));
    run_for(25s);
    EXPECT_FALSE(any.done() || by_lock.done());
    home.always = {};
    run_for(2s);
    ASSERT_TRUE(any.well() && by_lock.well());
    EXPECT_NE(any.value(), by_lock.value()) << "it is removed once";
    EXPECT_EQ(holder("stock"), "nobody");
}

TEST_F(ForceInFailover, FailsWhenNoServerTakesOver) {
    home.always = away;
    const said<bool> any = forced(home, {});
    run_for(30s - 1ms);
    EXPECT_FALSE(any.done());
    run_for(1s + 1ms);
    EXPECT_TRUE(any.failed(errc::unreachable));
}

TEST_F(ForceInFailover, TheOnlyServerIsAskedOnce) {
    bob.always = away;
    const said<bool> any = forced(bob, {});
    settle();
    EXPECT_TRUE(any.failed(errc::unreachable));
    EXPECT_EQ(bob.count(verb::force), 1u);
}

TEST_F(ForceInFailover, IsNotRepeatedAfterAnUnknownOutcomeIfNoOwnerIsNamed) {
    server.occupy("stock", 1h);
    home.planned = {away, {.answer_lost = true}};
    const said<bool> any = forced(home, {});
    run_for(1s);
    const lease next = taken(his);
    run_for(1min);
    EXPECT_TRUE(any.failed(errc::outcome_unknown));
    EXPECT_EQ(home.forces, 2u);
    EXPECT_EQ(holder("stock"), next.owner());
}

TEST_F(ForceInFailover, IsNotRepeatedAfterAnUnknownOutcomeIfAJvmIsNamed) {
    home.planned = {away, {.answer_lost = true}};
    const said<bool> of_jvm = forced(home, jvm);
    run_for(1min);
    EXPECT_TRUE(of_jvm.failed(errc::outcome_unknown));
    EXPECT_EQ(home.forces, 2u) << "the next hold of the JVM's thread has the same owner";
}

TEST_F(ForceInFailover, IsRepeatedAfterAnUnknownOutcomeIfAHoldOfHoldfastIsNamed) {
    const std::string first = taken(his, lease_time{1min}).owner();
    run_for(1s); // the lease was dropped, which releases it
    lease mine = taken(his);
    const std::string owner = mine.owner();
    ASSERT_NE(owner, first) << "each hold has its own owner";
    home.planned = {{.answer_lost = true}};
    const said<bool> of_mine = forced(home, owner);
    run_for(1s);
    EXPECT_EQ(holder("stock"), "nobody");
    server.occupy("stock", 1h);
    run_for(3s);
    ASSERT_TRUE(of_mine.well());
    EXPECT_TRUE(of_mine.value()) << "the first request has removed it";
    EXPECT_EQ(home.forces, 2u);
    EXPECT_NE(holder("stock"), "nobody") << "the next hold is left alone";
}

TEST_F(ForceInFailover, ReportsThatTheOutcomeIsUnknownIfNoServerTakesOver) {
    const lease mine = taken(his);
    home.planned = {{.answer_lost = true}};
    home.always = away;
    const said<bool> of_mine = forced(home, mine.owner());
    run_for(1min);
    EXPECT_TRUE(of_mine.failed(errc::outcome_unknown));
    EXPECT_GT(home.forces, 2u);
}

TEST_F(ForceInFailover, AsksNoMemberOfAMultiMutexAgainThatHasReplied) {
    far_client& other = both.emplace_back(io, clock, server);
    const lock_name names[] = {{"a"}, {"b"}};
    server.occupy(names[0], 1h);
    server.occupy(names[1], 1h);
    other.always = away;
    const std::vector<compose::member> members{
        front::make_descriptor(engine_of(home), names[0], {}),
        front::make_descriptor(engine_of(other), names[1], {})};
    const said<bool> all = forced(std::make_shared<compose::multi_descriptor>(members, 30s));
    run_for(10s);
    EXPECT_FALSE(all.done());
    mutex next{bob, "a"};
    const lease held = taken(next);
    other.always = {};
    run_for(2s);
    ASSERT_TRUE(all.well());
    EXPECT_TRUE(all.value());
    EXPECT_EQ(home.forces, 1u);
    EXPECT_EQ(holder("a"), held.owner());
    EXPECT_EQ(holder("b"), "nobody");
}

} // namespace
} // namespace holdfast::sync
