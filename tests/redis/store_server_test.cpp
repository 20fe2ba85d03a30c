// SPDX-License-Identifier: Apache-2.0
// The store as a client gets it: `make_store`, its connection and its scripts on each server.
#include "runtime/real_clock.hpp"
#include "support/on_each_server.hpp"
#include "support/renewed.hpp"

#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

class StoreOnServer : public support::on_each_server {
protected:
    void SetUp() override {
        on_each_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        redis::options how;
        how.unix_socket = server().socket_path();
        const store_context context{io_.get_executor(), clock_, [] { return 0; }, {}, "test",
                                    duration{5'000},    {}};
        store_ = redis::make_store(how)(context);
    }
    void TearDown() override {
        if (store_)
            store_->close();
        store_.reset();
        io_.restart();
        io_.run_for(std::chrono::seconds{5}); // what still waits ends
    }

    template <typename T>
    T complete(asio::awaitable<T> work) {
        std::optional<T> value;
        std::exception_ptr failure;
        bool done = false;
        asio::co_spawn(io_, std::move(work), [&](std::exception_ptr thrown, T result) {
            done = true;
            failure = thrown;
            value = std::move(result);
        });
        io_.restart();
        while (!done && io_.run_one_for(std::chrono::seconds{10}) != 0) {
        }
        if (failure)
            std::rethrow_exception(failure);
        return std::move(value).value();
    }

    ask want(std::uint64_t owner) const {
        ask made{lock_name{"L"}, owner_id{{}, owner}, lock_kind::plain};
        made.lease_time = duration{30'000};
        made.give_up_at = time_point::max();
        return made;
    }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    std::unique_ptr<store> store_;
};
HOLDFAST_ON_EACH_SERVER(StoreOnServer);

TEST_P(StoreOnServer, ALockIsTakenRenewedSeenAndReleased) {
    const auto wake = clock_.make_alarm();
    const ask alice = want(1);
    EXPECT_TRUE(complete(store_->locks().line_up(alice, *wake)->look()).granted);
    EXPECT_EQ(server().command({"HGET", "L", to_string(alice.owner)}).text, "1");

    const std::vector<const hold*> holds(150, &alice);
    for (const answer& each : complete(support::renewed(store_->locks(), holds, duration{60'000})))
        EXPECT_TRUE(each.granted);
    const std::optional<holding> seen = complete(store_->operators_view().inspect("L"));
    EXPECT_THAT(seen.value().owners, ::testing::ElementsAre(to_string(alice.owner)));
    EXPECT_GT(seen->remaining.value(), duration{50'000});

    EXPECT_TRUE(complete(store_->locks().release(alice)));
    EXPECT_FALSE(complete(store_->locks().release(alice)));
    EXPECT_EQ(complete(store_->operators_view().inspect("L")), std::nullopt);
}

TEST_P(StoreOnServer, AWaiterIsWokenByARelease) {
    const auto wake = clock_.make_alarm();
    const ask alice = want(1), bob = want(2);
    (void)complete(store_->locks().line_up(alice, *wake)->look());
    const auto spot = store_->locks().line_up(bob, *wake);
    EXPECT_FALSE(complete(spot->look()).granted);
    EXPECT_FALSE(complete(spot->look()).granted);

    const time_point before = clock_.now();
    EXPECT_TRUE(complete(store_->locks().release(alice)));
    auto sleep = [&]() -> asio::awaitable<bool> {
        co_await wake->wait_until(before + duration{20'000});
        co_return true;
    };
    (void)complete(sleep());
    EXPECT_LT(clock_.now() - before, duration{10'000});
    EXPECT_TRUE(complete(spot->look()).granted);
}

TEST_P(StoreOnServer, ForcingEndsAHold) {
    const auto wake = clock_.make_alarm();
    EXPECT_FALSE(complete(store_->operators_view().force_release("L", {})).was_locked);
    (void)complete(store_->locks().line_up(want(1), *wake)->look());
    const std::string another = to_string(want(2).owner), holder = to_string(want(1).owner);
    forced outcome = complete(store_->operators_view().force_release("L", another));
    EXPECT_FALSE(outcome.was_locked);
    EXPECT_THAT(outcome.owners, ::testing::ElementsAre(holder));
    outcome = complete(store_->operators_view().force_release("L", holder));
    EXPECT_TRUE(outcome.was_locked);
    EXPECT_THAT(outcome.owners, ::testing::ElementsAre(holder));
    EXPECT_FALSE(complete(store_->locks().release(want(1))));
}

TEST_P(StoreOnServer, AForeignKeyIsRefusedInTheServersWords) {
    const auto wake = clock_.make_alarm();
    server().command({"SET", "L", "not a lock"});
    try {
        (void)complete(store_->locks().line_up(want(1), *wake)->look());
        FAIL() << "was granted";
    } catch (const boost::system::system_error& refused) {
        EXPECT_EQ(refused.code(), errc::refused);
        EXPECT_EQ(refused.code(), make_error_code(store_errc::wrong_type));
        EXPECT_THAT(refused.what(), ::testing::HasSubstr("WRONGTYPE"));
    }
}

} // namespace
} // namespace holdfast
