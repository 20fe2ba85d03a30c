// SPDX-License-Identifier: Apache-2.0
// Replicas confirm the writes of a connection: the client sends one WAIT for each batch of
// requests, and nothing else until the reply.
#include "blocking_connection_fixture.hpp"
#include "node_fixture.hpp"
#include "runtime/clock.hpp"
#include "support/eventually.hpp"
#include "support/holds.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using sent_words = fake_server::words;

class Confirmed : public on_fake_server {
protected:
    static redis::call_options by(std::uint8_t replicas, duration within = 900ms) {
        return {.replicas = replicas, .replicas_within = within};
    }

    /// Makes the replicas slow: the reply to WAIT comes when the test sends it.
    void be_slow() { server_.says.erase("WAIT"); }

    /// The connection made as the so-manyth answers what it has not answered yet.
    void answer(const std::string& with, std::size_t which = 0) {
        server_.sessions.at(which)->muted = false;
        server_.sessions.at(which)->send(with);
        settle();
    }

    std::vector<std::string> asked_of(std::size_t which) const {
        std::vector<std::string> all;
        for (const sent_words& each : server_.sessions.at(which)->asked)
            all.push_back(each.front());
        return all;
    }
    const sent_words& last_words() const { return server_.sessions.back()->asked.back(); }
};

TEST_F(Confirmed, AnAnswerSaysHowManyReplicasHaveIt) {
    server_.says["WAIT"] = ":2\r\n";
    const asked enough = ask("k", by(2));
    EXPECT_EQ(enough->answer.integer, 1);
    EXPECT_EQ(enough->answer.confirmed, 2);
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "2", "900"));
    server_.says["WAIT"] = ":1\r\n";
    EXPECT_EQ(ask("k", by(2))->answer.confirmed, 1);
    EXPECT_EQ(ask()->answer.confirmed, 0) << "nobody was asked";
    EXPECT_EQ(server_.count_asked("WAIT"), 2u);
}

TEST_F(Confirmed, ItIsGivenWhenTheReplicasHaveAnswered) {
    be_slow();
    const asked one = ask("k", by(1));
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT"));
    EXPECT_FALSE(one->done);
    answer(":1\r\n");
    EXPECT_EQ(one->answer.confirmed, 1);
}

TEST_F(Confirmed, OneWaitStandsForAllThatGoesOutTogether) {
    be_slow();
    std::vector<asked> all;
    while (all.size() < 3)
        all.push_back(begin("k", by(1)));
    settle();
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "EVALSHA", "EVALSHA", "WAIT"));
    EXPECT_EQ(server_.last().bursts, 1u);
    answer(":1\r\n");
    for (const asked& each : all)
        EXPECT_EQ(each->answer.confirmed, 1);
}

TEST_F(Confirmed, NothingIsWrittenBehindAWaitAndSoTheNextBatchForms) {
    be_slow();
    ask("k", by(1));
    const asked second = ask("k", by(1)), third = ask("k", by(1));
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT"));
    answer(":1\r\n");
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT", "EVALSHA", "EVALSHA", "WAIT"));
    EXPECT_FALSE(second->done);
    answer(":0\r\n");
    EXPECT_EQ(third->answer.confirmed, 0);
    EXPECT_TRUE(second->done);
}

TEST_F(Confirmed, WhatNeedsNoReplicaIsNotBehindASlowOne) {
    be_slow();
    ask("k", by(1));
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_THAT(asked_of(1), ElementsAre("EVALSHA"));
}

TEST_F(Confirmed, EachNumberOfReplicasIsWaitedForApart) {
    be_slow();
    const asked one = ask("k", by(1)), two = ask("k", by(2));
    ASSERT_EQ(server_.sessions.size(), 2u);
    answer(":1\r\n");
    EXPECT_TRUE(one->done);
    EXPECT_FALSE(two->done);
    EXPECT_EQ(last_words().at(1), "2");
    answer(":1\r\n", 1);
    EXPECT_EQ(two->answer.confirmed, 1);
}

TEST_F(Confirmed, AScriptThatTheServerForgotIsConfirmedByTheNextWait) {
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    int waits = 0;
    server_.improvises = [&](const sent_words& said) -> std::optional<std::string> {
        if (said.front() != "WAIT")
            return std::nullopt;
        return ++waits == 1 ? ":9\r\n" : ":1\r\n"; // of what was before
    };
    const asked one = ask("k", by(1));
    EXPECT_EQ(one->answer.integer, 7);
    EXPECT_EQ(one->answer.confirmed, 1);
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT", "EVAL", "WAIT"));
}

TEST_F(Confirmed, ARefusalIsToldAtOnce) {
    be_slow();
    server_.says["EVALSHA"] = "-OOM command not allowed\r\n";
    EXPECT_EQ(ask("k", by(1))->code, make_error_code(store_errc::out_of_memory));
    answer(":0\r\n");
    server_.says["WAIT"] = ":1\r\n";
    server_.says["EVALSHA"] = ":1\r\n";
    EXPECT_EQ(ask("k", by(1))->answer.confirmed, 1);
}

TEST_F(Confirmed, WaitHasTheShortestTimeThatAnyoneInItsBatchGivesIt) {
    server_.says["WAIT"] = ":1\r\n";
    begin("k", by(1, 700ms));
    begin("k", by(1, 30ms));
    ask("k", by(1, 800ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "30"));
    ask("k", by(1, 800ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "800")) << "that was the other batch";
    ask("k", by(1, 0ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "1")) << "zero would be for ever";
}

TEST_F(Confirmed, WaitNeverHasMoreTimeThanReplicasHave) {
    how_.replica_timeout = 250ms;
    server_.says["WAIT"] = ":1\r\n";
    ask("k", by(1, 10s));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "250"));
}

TEST_F(Confirmed, WhatWasNotConfirmedBeforeTheConnectionEndedIsUnknown) {
    be_slow();
    const asked one = ask("k", by(1));
    server_.last().close();
    settle();
    EXPECT_EQ(one->code, errc::outcome_unknown);
    server_.says["WAIT"] = ":1\r\n";
    const asked next = ask("k", by(1));
    pass(1s);
    EXPECT_EQ(next->answer.confirmed, 1);
    EXPECT_THAT(asked_of(1), ElementsAre("EVALSHA", "WAIT"));
}

TEST_F(Confirmed, WhoIsCancelledMeanwhileIsToldAtOnceAndTheOthersLater) {
    be_slow();
    const asked mine = begin("k", by(1)), other = ask("k", by(1));
    mine->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(mine->code, asio::error::operation_aborted);
    EXPECT_FALSE(other->done);
    answer(":1\r\n");
    EXPECT_EQ(other->answer.confirmed, 1);
}

TEST_F(Confirmed, WhoseTimeIsOverMeanwhileDoesNotKnow) {
    be_slow();
    redis::call_options hurried = by(1);
    hurried.answer_by = clock_.now() + 100ms;
    const asked mine = ask("k", hurried), next = ask("k", by(1));
    pass(100ms);
    EXPECT_EQ(mine->code, errc::outcome_unknown);
    EXPECT_FALSE(next->done);
    server_.says["WAIT"] = ":1\r\n";
    answer(":1\r\n");
    EXPECT_EQ(next->answer.confirmed, 1);
}

TEST_F(Confirmed, AServerThatConfirmsNothingInTimeIsLeft) {
    be_slow();
    const asked one = ask("k", by(1));
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_TRUE(server_.last().open);
    pass(how_.command_timeout);
    EXPECT_FALSE(server_.last().open);
}

TEST_F(Confirmed, TheEndOfTheClientEndsWhoWaitsForIt) {
    be_slow();
    const asked one = ask("k", by(1));
    node().close();
    settle();
    EXPECT_EQ(one->code, errc::closed);
    EXPECT_EQ(ask("k", by(1))->code, errc::closed);
}

// Events about the connection and the server.

TEST_F(Confirmed, ADeniedWaitIsToldWithTheAnswer) {
    server_.says["WAIT"] = "-NOPERM this user has no permissions to run the 'wait' command\r\n";
    const asked one = ask("k", by(1));
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(one->answer.confirmed, 0);
    EXPECT_THAT(one->answer.confirmation_refused, HasSubstr("NOPERM"));
    EXPECT_TRUE(server_.last().open);
}

TEST_F(Confirmed, AServerThatIsDemotedMeanwhileIsLeft) {
    ask();
    for (const char* const said :
         {"-UNBLOCKED force unblock from blocking operation, instance state changed\r\n",
          "-ERR WAIT cannot be used with replica instances. Please also note that\r\n"}) {
        server_.says["WAIT"] = said;
        const asked one = ask("k", by(1));
        pass(1s);
        EXPECT_TRUE(one->done) << said;
        EXPECT_EQ(one->answer.confirmed, 0);
        EXPECT_FALSE(one->answer.confirmation_refused.empty());
        EXPECT_TRUE(std::ranges::none_of(server_.sessions, [](const auto& s) { return s->open; }));
        ask();
        pass(1s);
    }
}

TEST_F(Confirmed, AnAnswerThatWaitDoesNotGiveEndsTheConnection) {
    for (const char* const odd : {"+OK\r\n", "*0\r\n", ":-1\r\n"}) {
        server_.says["WAIT"] = odd;
        const asked one = ask("k", by(1));
        pass(1s);
        EXPECT_EQ(one->code, make_error_code(store_errc::protocol)) << odd;
        EXPECT_FALSE(server_.last().open);
    }
}

} // namespace
} // namespace holdfast

namespace holdfast::redis {
namespace {

// Replicas confirm what a blocking connection has written: script and WAIT go out together, and
// have an answer each.

using namespace std::chrono_literals;

class ConfirmedLane : public on_lane {
protected:
    reply ask_confirmed(std::uint8_t replicas = 1) {
        const std::string_view keys[] = {"k"};
        runtime::inline_call here{entrance_};
        request one{holdfast::script, keys, {}, {.replicas = replicas, .replicas_within = 900ms}};
        return line_->ask(here, one);
    }
    error_code code_of_asking_confirmed() {
        try {
            (void)ask_confirmed();
        } catch (const boost::system::system_error& why) {
            return why.code();
        }
        return {};
    }
};

TEST_F(ConfirmedLane, AsksTheReplicasInTheSameWriteAndReadsBothAnswers) {
    say(":7\r\n:2\r\n");
    const reply said = ask_confirmed(2);
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 2);
    EXPECT_TRUE(heard().ends_with("*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n900\r\n"));
    say(":3\r\n");
    EXPECT_EQ(ask().integer, 3) << "the next one's answer is its own";
}

TEST_F(ConfirmedLane, WaitsForTheSecondAnswerToo) {
    say(":7\r\n");
    std::thread replicas = answering("WAIT", ":1\r\n");
    EXPECT_EQ(ask_confirmed().confirmed, 1);
    replicas.join();
}

TEST_F(ConfirmedLane, AScriptThatTheServerForgotIsConfirmedByTheNextWait) {
    say("-NOSCRIPT No matching script.\r\n:9\r\n");
    std::thread server = answering("$4\r\nEVAL\r\n", ":7\r\n:1\r\n");
    const reply said = ask_confirmed();
    server.join();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 1);
}

TEST_F(ConfirmedLane, WhatIsOwedComesBeforeBothAnswers) {
    owed first{*this};
    say(":1\r\n:7\r\n:2\r\n");
    const reply said = ask_confirmed();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 2);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
}

TEST_F(ConfirmedLane, WithoutTheSecondAnswerNobodyKnows) {
    open(10ms);
    say(":7\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(ConfirmedLane, ADeniedWaitIsToldWithTheAnswer) {
    say(":7\r\n-NOPERM no\r\n");
    const reply said = ask_confirmed();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmation_refused, "NOPERM no");
    EXPECT_FALSE(line_->broken());
}

TEST_F(ConfirmedLane, ARefusalOfTheScriptIsNoMatterOfReplicas) {
    say("-OOM command not allowed\r\n:0\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), store_errc::out_of_memory);
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
}

TEST_F(ConfirmedLane, AServerThatIsDemotedMeanwhileIsLeft) {
    std::string why;
    known_->leave_server = [&](const net::failure& told) { why = told.text(); };
    say(":7\r\n-UNBLOCKED force unblock, instance state changed\r\n");
    EXPECT_EQ(ask_confirmed().integer, 7);
    EXPECT_THAT(why, ::testing::HasSubstr("UNBLOCKED"));
}

TEST_F(ConfirmedLane, AnAnswerThatWaitDoesNotGiveBreaksIt) {
    say(":7\r\n+OK\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), store_errc::protocol);
    EXPECT_TRUE(line_->broken());
}

} // namespace
} // namespace holdfast::redis

namespace holdfast {
namespace {

// WAIT tells of the last write of its connection. On a new one, where nothing was written yet, some
// servers confirm at once whatever was asked before. So whatever is asked again is written again:
// here a replica stands still, and no attempt over a connection of its own may be confirmed.

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
        EXPECT_TRUE(eventually([this] {
            command({"CLIENT", "KILL", "TYPE", "normal"}); // what is being made is named later
            io_.restart();
            io_.poll(); // which notices it
            return command({"CLIENT", "LIST"}).text.find("name=test") == std::string::npos;
        })) << command({"CLIENT", "LIST"}).text;
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
