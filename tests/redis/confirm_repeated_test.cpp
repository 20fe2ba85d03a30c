// SPDX-License-Identifier: Apache-2.0
// WAIT tells of the last write of its connection. On a new one, where nothing was written yet, some
// servers confirm at once whatever was asked before. So whatever is asked again is written again:
// here a replica stands still, and no attempt over a connection of its own may be confirmed.
#include "runtime/real_clock.hpp"
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/redis_replicas.hpp"
#include "support/renewed.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;

class AskedAgain : public support::on_each_topology<support::redis_replicas> {
protected:
    void SetUp() override {
        on_each_topology::SetUp();
        if (IsSkipped())
            return;
        redis::options where;
        where.unix_socket = servers().primary().socket_path();
        where.replica_timeout = 50ms;
        where.backoff_min = where.backoff_max = 1ms;
        const store_context context{
            io_.get_executor(), clock_, [] { return 0; }, {}, "test", 5s, {}};
        store_ = redis::make_store(where)(context);
    }
    void TearDown() override {
        spots_.clear();
        if (store_)
            store_->close();
        store_.reset();
        io_.restart();
        io_.run_for(support::far_too_long);
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
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
        while (!done && io_.run_one_for(support::far_too_long) != 0) {
        }
        if (failure)
            std::rethrow_exception(failure);
        return std::move(value).value();
    }
    template <typename T>
    error_code code_of(asio::awaitable<T> work) {
        try {
            (void)complete(std::move(work));
        } catch (const boost::system::system_error& why) {
            return why.code();
        }
        return {};
    }

    redis::reply command(const std::vector<std::string>& words) {
        redis::reply answer = servers().primary().command(words);
        EXPECT_NE(answer.type, redis::reply::kind::error) << answer.text;
        return answer;
    }

    void drop_connections() {
        command({"CLIENT", "KILL", "TYPE", "normal"});
        EXPECT_TRUE(eventually([this] {
            io_.restart();
            io_.poll(); // which notices it
            return command({"CLIENT", "LIST"}).text.find("name=test") == std::string::npos;
        }));
    }

    /// `ask` makes the same request each time.
    template <typename Ask>
    void expect_confirmed_by_the_replica_alone(Ask ask) {
        servers().replica().pause();
        for (int i = 1; i <= 3; ++i) {
            EXPECT_EQ(code_of(ask()), make_error_code(store_errc::not_replicated)) << "time " << i;
            drop_connections();
        }
        servers().replica().resume();
        EXPECT_TRUE(eventually([&] { return code_of(ask()) == error_code{}; }));
    }

    ask wanted(lock_kind kind, std::uint64_t number) const {
        ask made{lock_name{"L"}, owner_id{{1}, number}, kind};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        made.outlasts = 30s;
        made.replicas = 1;
        return made;
    }
    place& in_line(const ask& want) {
        return *spots_.emplace_back(store_->locks().line_up(want, *wake_));
    }
    void take(ask want) {
        want.replicas = 0;
        EXPECT_TRUE(complete(in_line(want).look()).granted);
    }

    void expect_grants(const ask& want) {
        place& spot = in_line(want);
        expect_confirmed_by_the_replica_alone([&] { return spot.look(); });
    }
    void expect_renewals(const ask& want, duration lease) {
        const hold* const one[] = {&want};
        expect_confirmed_by_the_replica_alone(
            [&] { return support::renewed(store_->locks(), one, lease); });
    }
    void expect_change(counter_kind kind, counter_verb verb) {
        counter_change what{lock_name{"S"}, owner_id{{1}, ++requests_}, kind, verb, 2};
        what.permit = permit_id({{1}, 7});
        what.kept = verb == counter_verb::set_lease ? 20s : 0s;
        what.to = {.permits = 3, .per = 10s};
        what.replicas = 1;
        expect_confirmed_by_the_replica_alone(
            [&] { return store_->counters()->change(counter_change{what}); });
    }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    const std::unique_ptr<alarm> wake_ = clock_.make_alarm();
    std::unique_ptr<store> store_;
    std::vector<std::unique_ptr<place>> spots_;
    std::uint64_t requests_ = 0;
};
HOLDFAST_ON_EACH_SERVER(AskedAgain);

constexpr lock_kind every_kind[] = {lock_kind::plain, lock_kind::spin,  lock_kind::fenced,
                                    lock_kind::fair,  lock_kind::read,  lock_kind::write,
                                    lock_kind::token, lock_kind::permit};

TEST_P(AskedAgain, AGrantOfEachKindIsWritten) {
    for (const lock_kind kind : every_kind) {
        SCOPED_TRACE(static_cast<int>(kind));
        command({"FLUSHALL"});
        if (kind == lock_kind::permit)
            command({"SET", "L", "5"});
        expect_grants(wanted(kind, 1));
    }
}

TEST_P(AskedAgain, AReaderBesideItsOwnWriterIsWritten) {
    take(wanted(lock_kind::write, 1));
    ask reads = wanted(lock_kind::read, 2);
    reads.under = 1;
    expect_grants(reads);
}

TEST_P(AskedAgain, AWriterOnTopOfItsOwnReaderIsWritten) {
    take(wanted(lock_kind::read, 1));
    ask writes = wanted(lock_kind::write, 2);
    writes.under = 1;
    expect_grants(writes);
}

TEST_P(AskedAgain, ARenewalOfEachKindIsWrittenAlsoIfEnoughIsLeft) {
    for (const lock_kind kind : every_kind) {
        SCOPED_TRACE(static_cast<int>(kind));
        command({"FLUSHALL"});
        if (kind == lock_kind::permit)
            command({"SET", "L", "5"});
        take(wanted(kind, 1));
        expect_renewals(wanted(kind, 1), 20s);
    }
}

TEST_P(AskedAgain, PermitsThatWereTakenAreWritten) {
    command({"SET", "S", "5"});
    counter_ask want{lock_name{"S"}, owner_id{{1}, 1}, counter_kind::semaphore, 2};
    want.give_up_at = time_point::max();
    want.replicas = 1;
    const auto spot = store_->counters()->line_up(want, *wake_);
    expect_confirmed_by_the_replica_alone([&] { return spot->look(); });
    EXPECT_EQ(command({"GET", "S"}).text, "3") << "once";
}

TEST_P(AskedAgain, ADrawIsWritten) {
    command({"HSET", "S", "rate", "5", "interval", "3600000", "type", "0"});
    counter_ask want{lock_name{"S"}, owner_id{{1}, 1}, counter_kind::rate, 2};
    want.give_up_at = time_point::max();
    want.replicas = 1;
    const auto spot = store_->counters()->line_up(want, *wake_);
    expect_confirmed_by_the_replica_alone([&] { return spot->look(); });
    EXPECT_EQ(command({"GET", "{S}:value"}).text, "3") << "once";
}

TEST_P(AskedAgain, EachChangeOfASemaphoreIsWritten) {
    using verb = counter_verb;
    for (const verb each : {verb::add, verb::add_if_there, verb::take_back, verb::drain,
                            verb::set_new, verb::erase}) {
        SCOPED_TRACE(static_cast<int>(each));
        command({"FLUSHALL"});
        command({"SET", "S", "5"});
        expect_change(counter_kind::semaphore, each);
    }
}

TEST_P(AskedAgain, EachChangeOfALatchIsWritten) {
    using verb = counter_verb;
    for (const verb each : {verb::set_new, verb::count_down, verb::erase}) {
        SCOPED_TRACE(static_cast<int>(each));
        command({"FLUSHALL"});
        command({"SET", "S", "5"});
        expect_change(counter_kind::latch, each);
    }
}

TEST_P(AskedAgain, EachChangeOfLeasedPermitsIsWritten) {
    using verb = counter_verb;
    for (const verb each : {verb::add, verb::take_back, verb::set_new, verb::set, verb::erase,
                            verb::give_back, verb::set_lease}) {
        SCOPED_TRACE(static_cast<int>(each));
        command({"FLUSHALL"});
        command({"SET", "S", "5"});
        ask held = wanted(lock_kind::permit, 7);
        held.name = lock_name{"S"};
        take(held);
        expect_change(counter_kind::permits, each);
    }
}

TEST_P(AskedAgain, EachChangeOfARateLimiterIsWritten) {
    using verb = counter_verb;
    for (const verb each : {verb::set_new, verb::set, verb::add, verb::erase}) {
        SCOPED_TRACE(static_cast<int>(each));
        command({"FLUSHALL"});
        command({"HSET", "S", "rate", "5", "interval", "3600000", "type", "0"});
        expect_change(counter_kind::rate, each);
    }
}

} // namespace
} // namespace holdfast
