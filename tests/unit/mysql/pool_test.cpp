// SPDX-License-Identifier: Apache-2.0
#include "mysql/connection_pool.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::mysql {

/// A connection whose replies come when the test sends them, or at once.
class model_line final : public server_connection {
public:
    model_line(holdfast::clock& time, bool answers)
        : answers_at_once{answers}
        , time_{time}
        , wake_{time.make_alarm()}
        , heard_at_{time.now()} {}

    asio::awaitable<std::vector<statement_answer>> ask(const std::vector<std::string>& all,
                                                       time_point limit) override {
        asked.push_back(all);
        limit_ = limit;
        sent_at_ = time_.now();
        busy_ = true;
        answered_ = false;
        while (!answers_at_once && !answered_ && !cut_)
            co_await wake_->wait_until(time_point::max());
        busy_ = false;
        limit_ = time_point::max();
        if (cut_)
            throw net::failure{*cut_};
        heard_at_ = time_.now();
        std::vector<statement_answer> told =
            next ? *std::exchange(next, std::nullopt)
                 : std::vector<statement_answer>(all.size(), clock_answer());
        for (std::size_t i = 0; i < std::min(all.size(), told.size()); ++i)
            if (all[i].starts_with("SHOW GLOBAL STATUS") && told[i].what.error == 0)
                told[i].what.rows = {{"Slaves_running", "0"}}; // it is a primary
        open_ = told.back().open;
        co_return told;
    }
    time_point limit() const override { return limit_; }
    time_point sent_at() const override { return sent_at_; }
    time_point heard_at() const override { return heard_at_; }
    bool transaction_open() const override { return open_; }
    void cut(net::failure why) noexcept override {
        if (!cut_)
            cut_.emplace(std::move(why));
        wake_->ring();
    }
    void end() noexcept override {
        ended = true;
        cut({errc::unreachable, "ended"});
    }
    bool is_cut() const override { return cut_.has_value(); }
    const net::failure& why() const override { return *cut_; }
    bool has_ended() noexcept override { return is_cut(); }
    const std::shared_ptr<runtime::remote_clock>& clock() const override { return clock_; }

    void answer() {
        answered_ = true;
        wake_->ring();
    }
    void hang_up() {
        cut({errc::unreachable, "closed by the server"});
        if (on_lost)
            std::exchange(on_lost, {})();
    }
    bool is_asked() const { return busy_; }

    std::vector<std::vector<std::string>> asked;
    std::optional<std::vector<statement_answer>> next; ///< instead of what says that all went well
    bool answers_at_once;
    bool ended = false;

private:
    static statement_answer clock_answer() {
        statement_answer one;
        one.what.rows = {{"1795618060.5", "0", "0"}};
        return one;
    }

    holdfast::clock& time_;
    const std::unique_ptr<alarm> wake_;
    const std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    std::optional<net::failure> cut_;
    time_point limit_ = time_point::max(), sent_at_{}, heard_at_{};
    bool busy_ = false, answered_ = false, open_ = false;
};

/// Whom the pool meets.
struct model_world {
    std::vector<std::shared_ptr<model_line>> lines;
    std::vector<std::string> tried; ///< hosts, in order
    std::vector<time_point> tried_at;
    std::optional<net::failure> refuses; ///< each attempt
    std::string refuses_only;            ///< that host; empty: all
    bool answers_at_once = true;
    std::string server = "s1";
    bool several_writers = false;
};

class model_maker final : public connection_factory {
public:
    model_maker(const store_context& home, model_world& world)
        : home_{home}
        , world_{world} {}

    asio::awaitable<introduced> make(const server_address& where, time_point) override {
        world_.tried.push_back(where.host);
        world_.tried_at.push_back(home_.time.now());
        const bool meant = world_.refuses_only.empty() || world_.refuses_only == where.host;
        if (world_.refuses && meant)
            throw net::failure{*world_.refuses};
        introduced made;
        auto one = std::make_shared<model_line>(home_.time, world_.answers_at_once);
        world_.lines.push_back(one);
        made.at = one;
        made.who.server = world_.server;
        made.who.uptime = std::chrono::hours{1000};
        made.who.facts.address = where.host;
        made.who.facts.has_several_writers = world_.several_writers;
        co_return made;
    }
    std::string address_of(const server_address& where) const override { return where.host; }
    void close() noexcept override {}

private:
    const store_context& home_;
    model_world& world_;
};

class PoolOnModel : public ::testing::Test {
protected:
    struct asking final : statements {
        std::vector<std::string> compose(const runtime::remote_clock&,
                                         const server_facts&) override {
            ++composed;
            return {text};
        }
        std::string text;
        call_options options{};
        int composed = 0;
        bool done = false;
        answers got{};
        error_code code{};
        std::string why{};
    };
    using asked = std::shared_ptr<asking>;

    PoolOnModel() {
        how_.schema = "s";
        how_.servers = {{"a", 0}};
    }
    ~PoolOnModel() override {
        close();
        settle();
        EXPECT_EQ(clock_.sleepers(), 0u) << "somebody sleeps on";
    }

    class pool& pool() {
        if (!pool_) {
            auto tell = [this](const event& what) { told_.notify(what); };
            store_context home{io_.get_executor(), clock_, [this] { return random_(); }, {}, "test",
                               duration{},         tell};
            home.revalidate = [this](const auto&, bool urgent) { doubts_.push_back(urgent); };
            home.holds_any = [this] { return holds_; };
            const auto make = [this](const store_context& at, const options&) {
                return std::make_unique<model_maker>(at, world_);
            };
            pool_ = std::make_shared<class pool>(how_, std::move(home), make);
        }
        return *pool_;
    }
    void close() {
        if (pool_)
            pool_->close();
        pool_.reset();
    }

    asked ask(std::string text = "q", call_options options = {}) {
        const auto made = std::make_shared<asking>();
        made->text = std::move(text);
        made->options = std::move(options);
        asio::co_spawn(io_, run(pool(), made), [made](const std::exception_ptr& failed) {
            made->done = true;
            const support::thrown thrown = support::thrown_of(failed);
            made->code = thrown.code;
            made->why = thrown.text;
        });
        settle();
        return made;
    }
    void settle() { clock_.run_until(clock_.now()); }
    void pass(duration length) { clock_.run_for(length); }
    model_line& line(std::size_t which = 0) { return *world_.lines.at(which); }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    options how_;
    model_world world_;
    support::recorder told_;
    std::vector<bool> doubts_;
    bool holds_ = false;
    std::mt19937_64 random_{1};
    std::shared_ptr<class pool> pool_;

private:
    static asio::awaitable<void> run(class pool& on, asked mine) {
        mine->got = co_await on.run(*mine, mine->options);
    }
};

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MysqlPool : public PoolOnModel {};

TEST_F(MysqlPool, ConnectsWhenItIsAskedForTheFirstTime) {
    pool();
    pass(1h);
    EXPECT_THAT(world_.tried, IsEmpty());
    const asked call = ask();
    EXPECT_TRUE(call->done);
    EXPECT_EQ(call->code, error_code{}) << call->why;
    EXPECT_EQ(call->got.server, "a");
    EXPECT_THAT(world_.tried, ElementsAre("a"));
    EXPECT_THAT(doubts_, IsEmpty()) << "nobody can hold anything yet";
}

TEST_F(MysqlPool, ServesWhoWaitsInTheirOrder) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    const asked first = ask("1"), second = ask("2"), third = ask("3");
    ASSERT_EQ(world_.lines.size(), 1u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(line().asked.size(), i + 1u);
        line().answer();
        settle();
    }
    EXPECT_THAT(line().asked, ElementsAre(ElementsAre("1"), ElementsAre("2"), ElementsAre("3")));
    EXPECT_TRUE(first->done && second->done && third->done);
}

TEST_F(MysqlPool, MakesNoMoreConnectionsThanItMayAndNoneWithoutNeed) {
    how_.connections_max = 2;
    ask();
    ask();
    EXPECT_EQ(world_.lines.size(), 1u) << "one is enough for one after the other";
    line().answers_at_once = world_.answers_at_once = false;
    const asked a = ask(), b = ask(), c = ask();
    EXPECT_EQ(world_.lines.size(), 2u);
    line(0).answer();
    line(1).answer();
    settle();
    line(0).answer();
    settle();
    EXPECT_TRUE(a->done && b->done && c->done);
}

TEST_F(MysqlPool, ARequestThatWasNotSentInTimeIsUnreachable) {
    how_.connections_max = 1;
    how_.command_timeout = 3s;
    world_.answers_at_once = false;
    call_options options;
    const asked first = ask("1");
    options.answer_by = clock_.now() + 1s;
    const asked second = ask("2", options);
    pass(1s);
    EXPECT_TRUE(second->done);
    EXPECT_EQ(second->code, errc::unreachable) << second->why;
    EXPECT_THAT(second->why, HasSubstr("busy"));
    EXPECT_FALSE(first->done);
}

TEST_F(MysqlPool, ARequestThatIsNotAnsweredInTimeIsUnknownAndItsConnectionIsCut) {
    how_.command_timeout = 3s;
    world_.answers_at_once = false;
    const asked call = ask();
    pass(2999ms);
    EXPECT_FALSE(call->done);
    pass(1ms);
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->why;
    EXPECT_TRUE(line().is_cut());
}

TEST_F(MysqlPool, NobodyIsAskedWhenTheTimeWasOverBefore) {
    ask();
    call_options options;
    options.answer_by = clock_.now();
    EXPECT_EQ(ask("late", options)->code, errc::unreachable);
    EXPECT_EQ(line().asked.size(), 1u);
}

TEST_F(MysqlPool, BeyondItsBoundOnlyReservedRequestsAreTaken) {
    how_.requests_max = 2;
    how_.connections_max = 1;
    world_.answers_at_once = false;
    ask();
    ask();
    EXPECT_EQ(ask()->code, errc::overloaded);
    call_options options;
    options.reserved = true;
    EXPECT_FALSE(ask("renewal", options)->done) << "it waits";
}

TEST_F(MysqlPool, EachServerIsTriedBeforeAnybodyIsToldAndBeforeAnyPause) {
    how_.servers = {{"a", 0}, {"b", 0}, {"c", 0}};
    world_.refuses = net::failure{errc::unreachable, "refused there"};
    const time_point began = clock_.now();
    const asked call = ask();
    EXPECT_THAT(world_.tried, ElementsAre("a", "b", "c"));
    EXPECT_EQ(clock_.now(), began);
    EXPECT_EQ(call->code, errc::unreachable) << call->why;
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
}

TEST_F(MysqlPool, AServerThatMayComeBackCountsMoreThanOneThatRefuses) {
    how_.servers = {{"a", 0}, {"b", 0}};
    world_.refuses = net::failure{store_errc::not_authenticated, "who are you"};
    const asked refused = ask();
    EXPECT_EQ(refused->code, errc::refused) << refused->why;
}

TEST_F(MysqlPool, PausesBetweenAttemptsGrowAndHaveABound) {
    how_.backoff_min = 50ms;
    how_.backoff_max = 2s;
    world_.refuses = net::failure{errc::unreachable, "refused"};
    for (int i = 0; i < 400; ++i) {
        ask();
        pass(100ms);
    }
    ASSERT_GT(world_.tried_at.size(), 10u);
    EXPECT_LT(world_.tried_at.size(), 100u);
    duration longest{};
    for (std::size_t i = 1; i < world_.tried_at.size(); ++i)
        longest = std::max(longest, world_.tried_at[i] - world_.tried_at[i - 1]);
    EXPECT_GT(longest, 500ms);
    EXPECT_LE(longest, 2100ms);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u) << "once in an outage";
}

TEST_F(MysqlPool, AServerThatGivesNoMoreConnectionsIsNotLeft) {
    how_.servers = {{"a", 0}, {"b", 0}};
    how_.connections_max = 2;
    world_.answers_at_once = false;
    const asked first = ask();
    world_.refuses = net::failure{store_errc::too_many_clients, "too many connections"};
    const asked second = ask();
    pass(500ms);
    EXPECT_FALSE(second->done) << "it waits for the one there is";
    EXPECT_THAT(world_.tried, ::testing::Each("a"));
    line().answer();
    settle();
    line().answer();
    settle();
    EXPECT_TRUE(first->done && second->done);
    EXPECT_EQ(second->code, error_code{}) << second->why;
}

TEST_F(MysqlPool, AnIdleConnectionIsUsedOnceInItsTime) {
    how_.keep_alive = 30s;
    ask();
    pass(29s);
    EXPECT_EQ(line().asked.size(), 1u);
    pass(1s);
    ASSERT_EQ(line().asked.size(), 2u);
    EXPECT_THAT(line().asked[1], ::testing::Contains(HasSubstr("SYSDATE")));
    EXPECT_TRUE(line().clock()->known()) << "its clock is learnt with that";
    pass(60s);
    EXPECT_EQ(line().asked.size(), 4u);
}

TEST_F(MysqlPool, AnIdleConnectionThatDoesNotAnswerIsReplaced) {
    how_.keep_alive = 30s;
    ask();
    line().answers_at_once = false;
    pass(33s);
    EXPECT_TRUE(line().is_cut());
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    pass(1s);
    EXPECT_EQ(ask()->code, error_code{});
}

TEST_F(MysqlPool, ALostServerIsLookedForOnlyWhileSomethingIsHeld) {
    ask();
    line().hang_up();
    pass(1h);
    EXPECT_EQ(world_.lines.size(), 1u);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    ask();
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
    holds_ = true;
    line(1).hang_up();
    pass(1s);
    EXPECT_EQ(world_.lines.size(), 3u);
    EXPECT_THAT(doubts_, ElementsAre(false, false));
}

TEST_F(MysqlPool, AnotherServerPutsAllHoldsInDoubtAtOnce) {
    ask();
    line().hang_up();
    world_.server = "s2";
    pass(1s);
    ask();
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(MysqlPool, SeveralWritersOfOneClusterAreNotTakenForAnother) {
    world_.several_writers = true;
    how_.connections_max = 2;
    world_.answers_at_once = false;
    const asked first = ask();
    world_.server = "s2";
    ask();
    EXPECT_EQ(world_.lines.size(), 2u);
    EXPECT_FALSE(line(0).is_cut());
    EXPECT_FALSE(first->done);
    EXPECT_FALSE(pool().has_bells()) << "each has its own";
}

TEST_F(MysqlPool, ADeadlockIsRepeatedThreeTimes) {
    const auto deadlock = [] {
        statement_answer one;
        one.what.error = 1213;
        return std::vector{one};
    };
    struct deadlocks final : statements {
        std::vector<std::string> compose(const runtime::remote_clock&,
                                         const server_facts&) override {
            ++composed;
            at->next = what;
            return {"UPDATE"};
        }
        std::vector<statement_answer> what;
        model_line* at = nullptr;
        int composed = 0;
    };
    ask();
    deadlocks always;
    always.what = deadlock();
    always.at = &line();
    error_code code;
    const auto run = [&]() -> asio::awaitable<void> {
        const std::string undo = "DO RELEASE_LOCK('b')";
        const call_options options{.undo = &undo};
        co_await pool().run(always, options);
    };
    asio::co_spawn(io_, run(), [&](const std::exception_ptr& failed) {
        code = support::thrown_of(failed).code;
    });
    settle();
    EXPECT_EQ(always.composed, 1) << "not at once: they would meet again";
    pass(1s);
    EXPECT_EQ(always.composed, 4);
    EXPECT_EQ(code, make_error_code(store_errc::try_again));
    EXPECT_THAT(line().asked,
                ::testing::Contains(ElementsAre("ROLLBACK", "DO RELEASE_LOCK('b')")).Times(4))
        << "a user lock is not rolled back";
}

TEST_F(MysqlPool, ARequestThatMayNotEndInTimeIsNotRepeated) {
    how_.command_timeout = 3s;
    world_.answers_at_once = false;
    const asked call = ask();
    pass(2s);
    statement_answer waited;
    waited.what.error = 1205;
    line().next = std::vector{waited};
    line().answers_at_once = true;
    line().answer();
    pass(100ms);
    EXPECT_TRUE(call->done);
    EXPECT_EQ(call->composed, 1);
    EXPECT_EQ(call->code, make_error_code(store_errc::try_again)) << call->why;
}

TEST_F(MysqlPool, WhoEndsATransactionComesBeforeThoseWhoWaitForAnyConnection) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    call_options options;
    options.leaves_open = true;
    const asked begun = ask("START", options);
    statement_answer open;
    open.open = true;
    line().next = std::vector{open};
    line().answer();
    settle();
    ASSERT_EQ(begun->code, error_code{}) << begun->why;
    const asked other = ask("other");
    EXPECT_EQ(world_.lines.size(), 1u) << "it will come back";
    call_options second;
    second.on = begun->got.by;
    const asked ended = ask("COMMIT", second);
    line().answer();
    settle();
    EXPECT_TRUE(ended->done);
    line().answer();
    settle();
    EXPECT_TRUE(other->done);
    EXPECT_THAT(line().asked,
                ElementsAre(ElementsAre("START"), ElementsAre("COMMIT"), ElementsAre("other")));
}

TEST_F(MysqlPool, ClosingEndsWhatIsUnderWayAndWhatWaits) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    const asked sent = ask(), queued = ask();
    pool().close();
    settle();
    EXPECT_EQ(sent->code, errc::closed) << sent->why;
    EXPECT_EQ(queued->code, errc::closed) << queued->why;
    EXPECT_EQ(ask()->code, errc::closed);
}

TEST_F(MysqlPool, ClosingSaysGoodbyeOnIdleConnections) {
    ask();
    close();
    EXPECT_TRUE(line().ended);
}

TEST_F(MysqlPool, ClosingEndsTheSearchForAServer) {
    world_.refuses = net::failure{errc::unreachable, "refused"};
    holds_ = true;
    ask();
    pass(100ms);
    close();
    settle();
    EXPECT_EQ(clock_.sleepers(), 0u);
}

TEST_F(MysqlPool, NoMoreConnectionsToWaitOnThanItMay) {
    how_.wait_connections_max = 1;
    std::shared_ptr<pinned_connection> first, second;
    const auto take_one = [&](std::shared_ptr<pinned_connection>& into) -> asio::awaitable<void> {
        into = co_await pool().connection_to_wait_on(time_point::max());
    };
    const auto take = [&](std::shared_ptr<pinned_connection>& into) {
        asio::co_spawn(io_, take_one(into),
                       [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
        settle();
    };
    take(first);
    take(second);
    ASSERT_TRUE(first);
    EXPECT_FALSE(second);
    first.reset();
    settle();
    EXPECT_THAT(line().asked, ElementsAre(ElementsAre("DO RELEASE_ALL_LOCKS()")));
    take(second);
    EXPECT_TRUE(second);
    EXPECT_EQ(world_.lines.size(), 1u) << "the same server";
}

} // namespace
} // namespace holdfast::mysql
