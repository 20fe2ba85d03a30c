// SPDX-License-Identifier: Apache-2.0
// TCP connections: how the client creates a socket, and how it looks up a server.
#include "named_pair.hpp"
#include "net/byte_stream.hpp"
#include "node_fixture.hpp"
#include "node_on_server.hpp"
#include "redis/client/connection.hpp"
#include "redis/node.hpp"
#include "redis/topology/primary_node.hpp"
#include "runtime/clock.hpp"
#include "runtime/process.hpp"
#include "support/clocks.hpp"
#include "support/eventually.hpp"
#include "support/host_names.hpp"
#include "support/loop_thread.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using ::testing::HasSubstr;

class ConnectionSocket : public ::testing::Test {
protected:
    int option(net::stream_socket& socket, int level, int name) {
        int value = -1;
        socklen_t size = sizeof value;
        EXPECT_EQ(::getsockopt(socket.native_handle(), level, name, &value, &size), 0);
        return value;
    }

    std::shared_ptr<const destination> there() const { return destination_of(how_); }

    /// What dialling there ends with; empty: it is connected.
    std::string dial(connection& line, duration timeout = 5s) {
        std::optional<std::string> outcome;
        auto call = [&]() -> asio::awaitable<void> {
            co_await line.dial(there(), clock_.now() + timeout);
        };
        asio::co_spawn(io_, call(), [&](const std::exception_ptr& failed) {
            try {
                if (failed)
                    std::rethrow_exception(failed);
                outcome.emplace();
            } catch (const net::failure& why) {
                EXPECT_EQ(why.code(), errc::unreachable);
                outcome = why.text();
            }
        });
        io_.restart();
        io_.run_for(30s);
        return outcome.value_or("still dialling");
    }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
    options how_;
};

TEST_F(ConnectionSocket, IsMadeWithAllThatAsioLeavesToChance) {
    how_.command_timeout = 6s;
    net::stream_socket socket{io_};
    ASSERT_FALSE(net::open_socket(socket, acceptor_.local_endpoint(), how_.command_timeout));
    EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFL) & O_NONBLOCK);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 6);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 2);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 12'000);
}

TEST_F(ConnectionSocket, CopesWithExtremeTimeouts) {
    for (const duration extreme : {duration{1}, duration{24h}, duration::max()}) {
        how_.command_timeout = extreme;
        net::stream_socket socket{io_};
        ASSERT_FALSE(net::open_socket(socket, acceptor_.local_endpoint(), how_.command_timeout));
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 1);
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 1);
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);
    }
}

TEST_F(ConnectionSocket, ReachesANumericAddress) {
    how_.port = acceptor_.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "");
}

TEST_F(ConnectionSocket, ReachesANameWhicheverOfItsAddressesAnswers) {
    how_.host = "localhost"; // ::1 too on many machines, where nobody listens
    how_.port = acceptor_.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "");
}

TEST_F(ConnectionSocket, SaysThatNobodyListens) {
    how_.port = acceptor_.local_endpoint().port();
    acceptor_.close();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "Connection refused");
}

TEST_F(ConnectionSocket, SaysThatThereIsNoSuchName) {
    how_.host = "no such name";
    connection line{home_, how_};
    EXPECT_THAT(dial(line), HasSubstr("cannot find the address of no such name: "));
}

TEST_F(ConnectionSocket, SaysThatAPathIsTooLong) {
    how_.unix_socket = "/" + std::string(200, 'x');
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "the path is too long for a socket");
}

TEST_F(ConnectionSocket, EndsTheLookUpWhenItIsCut) {
    how_.host = "localhost";
    connection line{home_, how_};
    bool over = false;
    auto call = [&]() -> asio::awaitable<void> { co_await line.dial(there(), clock_.now() + 5s); };
    asio::co_spawn(io_, call(), [&](const std::exception_ptr&) { over = true; });
    asio::post(io_, [&] { line.cut({errc::unreachable, "enough"}); });
    io_.poll(); // whatever the resolver is at
    EXPECT_TRUE(over);
}

TEST_F(ConnectionSocket, LeavesAPeerThatDoesNotAnswerInTime) {
    // If the backlog is full, the system drops new connections.
    tcp::acceptor full{io_};
    full.open(tcp::v4());
    full.bind({asio::ip::address_v4::loopback(), 0});
    full.listen(0);
    std::vector<tcp::socket> waiting;
    for (int i = 0; i < 3; ++i) {
        waiting.emplace_back(io_).open(tcp::v4());
        waiting.back().native_non_blocking(true); // Asio's connect() would wait all the same
        const auto there = full.local_endpoint();
        (void)::connect(waiting.back().native_handle(), there.data(),
                        static_cast<socklen_t>(there.size()));
    }
    how_.port = full.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line, 50ms), "Connection timed out");
}

} // namespace
} // namespace holdfast::redis

namespace holdfast {
namespace {

// Two servers behind one name, whose dates differ: a request's deadline is written for the clock of
// the one that it is sent to.

using namespace std::chrono_literals;

/// How much time it has left when it is carried out.
constexpr const char* show_deadline = R"(
    local now = redis.call('TIME')
    return tonumber(ARGV[1]) - (now[1] * 1000000 + now[2]))";

/// Script that is executed only before its deadline.
constexpr const char* take_in_time = R"(
    local now = redis.call('TIME')
    local late = tonumber(ARGV[1]) <= now[1] * 1000000 + now[2]
    return redis.call('INCR', late and 'late' or 'in time'))";

class ClockOfConnection : public ::testing::TestWithParam<support::server_binary>,
                          protected driven_node {
protected:
    static constexpr auto apart = 20s;

    void SetUp() override {
        support::make_or_skip([this] { pair_.emplace(GetParam(), true); });
        if (IsSkipped())
            return;
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            each->command({"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-info"});
        pair_->promote(pair_->next());
        how_ = pair_->by_name();
        how_.user = "app"; // then nobody knows that these are two, and both stay in use
        how_.address_check = 1h;
        how_.command_timeout = 300ms;
    }
    void TearDown() override {
        forget_node();
        run_to_the_end();
    }

    /// Over the shared connection, or over that for what replicas confirm.
    outcome ask(const char* text, time_point deadline, bool confirmed) {
        std::string digest;
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            if (each->is_up()) // so that it is sent once, and not known there only then
                digest = each->command({"SCRIPT", "LOAD", text}).text;
        redis::call_options options;
        options.replicas = confirmed ? 1 : 0;
        options.replicas_within = 10ms;
        return call({"", digest, text}, {}, {redis::server_deadline{deadline}}, options);
    }
    /// Sends a request with a deadline of one minute. Returns the rest of this time when the
    /// request arrives.
    std::chrono::microseconds left_of_a_minute(bool confirmed) {
        const outcome got = ask(show_deadline, clock_.now() + 1min, confirmed);
        EXPECT_FALSE(got.code) << got.text;
        return std::chrono::microseconds{got.answer.integer};
    }
    static void expect_a_minute(std::chrono::microseconds left) {
        EXPECT_LE(left, 1min);
        EXPECT_GT(left, 1min - apart / 2);
    }
    static std::int64_t number(support::redis_server& at, const std::string& key) {
        return std::strtoll(at.command({"GET", key}).text.c_str(), nullptr, 10);
    }
    /// A request that a server has in its hands when it stops, and carries out afterwards.
    void expect_nothing_late(support::redis_server& at, bool confirmed) {
        for (support::redis_server* const each : {&pair_->old(), &pair_->next()})
            each->command({"SCRIPT", "LOAD", take_in_time});
        at.pause();
        const time_point deadline = clock_.now() + how_.command_timeout;
        EXPECT_EQ(ask(take_in_time, deadline, confirmed).code, errc::outcome_unknown);
        // The client may give up earlier if a new connection gets no reply either.
        EXPECT_TRUE(support::eventually([&] { return clock_.now() >= deadline; }));
        at.resume();
        EXPECT_TRUE(support::eventually([&] { return number(at, "late") == 1; }));
        EXPECT_EQ(number(at, "in time"), 0);
    }

    std::optional<named_pair> pair_;
};
HOLDFAST_ON_EACH_SERVER(ClockOfConnection);

TEST_P(ClockOfConnection, NeitherServersDeadlineIsWrittenForTheOthersClock) {
    pair_->next().step_clock(-apart); // the one where what is late would be in time
    expect_a_minute(left_of_a_minute(false));
    pair_->lead_to(pair_->next());
    expect_a_minute(left_of_a_minute(true));
    expect_a_minute(left_of_a_minute(false));
    expect_nothing_late(pair_->next(), true);
    expect_nothing_late(pair_->old(), false);
}

TEST_P(ClockOfConnection, NorWhereTheNextOneIsAhead) {
    pair_->next().step_clock(apart);
    expect_a_minute(left_of_a_minute(false));
    pair_->lead_to(pair_->next());
    expect_a_minute(left_of_a_minute(true));
    expect_a_minute(left_of_a_minute(false));
    expect_nothing_late(pair_->old(), false);
    expect_nothing_late(pair_->next(), true);
}

// The key that describes a client. The client writes it when it takes locks, renews it with its
// requests, and deletes it at its end.

using support::eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClientKey : public support::on_each_server {
protected:
    options reaching(const std::string& user = {}) {
        redis::options where;
        where.unix_socket = server().socket_path();
        if (!user.empty()) {
            where.user = user;
            where.password = "its";
        }
        return {.store = redis::make_store(where), .label = "till \"3\"", .observer = told_};
    }

    static std::string key_of(const client& c) { return "holdfast_client:" + c.id(); }
    bool exists(const std::string& key) { return server().command({"EXISTS", key}).integer == 1; }
    duration left(const std::string& key) {
        return duration{server().command({"PTTL", key}).integer};
    }
    std::int64_t writes() {
        const std::string all = server().command({"INFO", "commandstats"}).text;
        const std::size_t at = all.find("cmdstat_set:calls=");
        return at == all.npos ? 0 : std::stoll(all.substr(at + 18));
    }
    std::int64_t scripts() {
        std::int64_t sum = 0;
        const std::string all = server().command({"INFO", "commandstats"}).text;
        for (const std::string word : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="})
            if (const std::size_t at = all.find(word); at != all.npos)
                sum += std::stoll(all.substr(at + word.size()));
        return sum;
    }

    /// Lets another call wait for the held lock until its state is as expected. Returns the state.
    static std::optional<lock_state>
    seen_beside_a_waiter(basic_mutex& held, basic_mutex& of_waiter, client& looker,
                         const std::string& name,
                         const std::function<bool(const lock_state&)>& is_expected) {
        held.lock();
        std::thread waiter{[&] {
            if (of_waiter.try_lock_for(1h))
                of_waiter.unlock();
        }};
        std::optional<lock_state> seen;
        EXPECT_TRUE(eventually([&] {
            seen = looker.inspect(name);
            return seen && seen->waiters.size() == 1 && is_expected(*seen);
        }));
        held.unlock();
        waiter.join();
        return seen;
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClientKey);

TEST_P(ClientKey, IsWrittenOnceForManyLocksAndTakenAwayAtTheEnd) {
    client home{reaching()};
    (void)home.inspect("L");
    (void)home.list();
    EXPECT_FALSE(exists(key_of(home))) << "who only looks is nobody's holder";

    mutex lock{home, "L"};
    for (int i = 0; i < 100; ++i)
        const std::scoped_lock held{lock};
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    EXPECT_EQ(writes(), 1);
    EXPECT_GT(left(key_of(home)), 50s);
    EXPECT_LE(left(key_of(home)), 1min);
    home.close();
    EXPECT_FALSE(exists(key_of(home)));
    EXPECT_THAT(told_->of(event_kind::impaired), IsEmpty());
}

TEST_P(ClientKey, IsWrittenByWhoHasAPlaceToo) {
    client holder{reaching()}, in_queue{reaching()}, writer{reaching()}, listener{reaching()};
    fair_mutex fair{holder, "F"}, next{in_queue, "F"};
    shared_mutex shared{holder, "S"}, writes{writer, "S"};
    mutex plain{holder, "P"}, waits{listener, "P"};
    const std::scoped_lock held{fair, shared.shared(), plain};
    EXPECT_FALSE(next.try_lock_for(50ms));
    EXPECT_FALSE(writes.try_lock_for(50ms));
    EXPECT_FALSE(waits.try_lock_for(50ms));
    EXPECT_TRUE(eventually([&] { return exists(key_of(in_queue)) && exists(key_of(writer)); }));
    EXPECT_FALSE(exists(key_of(listener))) << "nobody could ask who that is";
}

TEST_P(ClientKey, SaysWhoTheClientIs) {
    client home{reaching()};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    const auto info = boost::json::parse(server().command({"GET", key_of(home)}).text).as_object();
    const runtime::self here = runtime::this_process();
    EXPECT_EQ(info.at("host").as_string(), here.host);
    EXPECT_EQ(info.at("pid").as_int64(), here.pid);
    EXPECT_EQ(info.at("program").as_string(), "redis_test");
    EXPECT_EQ(info.at("label").as_string(), "till \"3\"");

    const std::optional<lock_state> seen = client{reaching()}.inspect("L");
    ASSERT_TRUE(seen && seen->owners.size() == 1 && seen->owners[0].client);
    EXPECT_EQ(seen->owners[0].client->host, here.host);
    EXPECT_EQ(seen->owners[0].client->pid, here.pid);
    EXPECT_EQ(seen->owners[0].client->label, "till \"3\"");
    EXPECT_NEAR(static_cast<double>(seen->owners[0].client->since.count()),
                std::stod(server().command({"TIME"}).items.at(0).text), 60);
    lock.unlock();
}

TEST_P(ClientKey, OutlivesTheLongestHold) {
    client home{reaching()};
    mutex lock{home, "L"};
    lock.lock(lease_time{1h});
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    EXPECT_GT(left(key_of(home)), 59min);
    lock.unlock();
    lock.lock(); // a shorter hold does not shorten it
    EXPECT_GT(left(key_of(home)), 59min);
    EXPECT_EQ(writes(), 1);
    lock.unlock();
    lock.lock(lease_time{2h});
    EXPECT_TRUE(eventually([&] { return left(key_of(home)) > 119min; }));
    lock.unlock();
}

TEST_P(ClientKey, StaysWithALockThatIsLeftBehind) {
    options how = reaching();
    how.close_timeout = 0ms;
    client home{std::move(how)};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    home.close();
    EXPECT_TRUE(exists("L"));
    EXPECT_TRUE(exists(key_of(home))) << "somebody may ask whose lock that is";
}

TEST_P(ClientKey, IsNotWrittenWhereTheOptionSaysSo) {
    options how = reaching();
    how.announce = false;
    client home{std::move(how)};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    home.close();
    EXPECT_EQ(writes(), 0);
}

TEST_P(ClientKey, IsWrittenAnewByRenewalsAlone) {
    support::loop_thread loop;
    support::shifted_clock time{loop.io().get_executor()};
    options how = reaching();
    how.executor_is_serial = true;
    client home{loop.io().get_executor(), time, std::move(how)};
    mutex lock{home, "L"};
    lock.lock();
    // If the clock were shifted before the client has read the reply to a write, the write would be
    // late, and the client would repeat it.
    const auto has_written = [&](std::int64_t count) {
        const bool reached = eventually([&] { return writes() == count; });
        (void)home.inspect("other"); // its reply comes after the reply to the write
        return reached;
    };
    ASSERT_TRUE(has_written(1));
    time.shift(11s); // a renewal, and the hold is listed
    ASSERT_TRUE(eventually([&] { return left("L") > 29s; }));
    ASSERT_TRUE(has_written(2));
    time.shift(11s); // a renewal, and no other write is due
    ASSERT_TRUE(eventually([&] { return left("L") > 29s; }));
    EXPECT_EQ(writes(), 2);
    time.shift(11s);
    EXPECT_TRUE(has_written(3));
    lock.unlock();
    ASSERT_TRUE(has_written(4)) << "the hold is not listed any more";
    time.shift(10min);
    EXPECT_EQ(writes(), 4) << "who does nothing writes nothing";
    home.close();
}

/// Numbers of requests that the server received for a lock and an unlock, and for a wait of 200 ms.
struct sent_requests {
    std::int64_t of_pair, of_wait;
};

TEST_P(ClientKey, ShortHoldsAndWaitsSendNoRequestsForTheList) {
    const auto requests = [&](bool announces) {
        support::loop_thread loop;
        support::shifted_clock time{loop.io().get_executor()};
        options how = reaching(), of_waiter = reaching();
        how.executor_is_serial = of_waiter.executor_is_serial = true;
        how.announce = of_waiter.announce = announces;
        client holder{loop.io().get_executor(), time, std::move(how)};
        client waits{loop.io().get_executor(), time, std::move(of_waiter)};
        mutex lock{holder, "L"}, same{waits, "L"};
        { const std::scoped_lock held{same}; } // now the server knows the scripts and the clients
        { const std::scoped_lock held{lock}; }
        (void)holder.inspect("other");
        EXPECT_TRUE(eventually([&] { return !announces || exists(key_of(holder)); }));
        EXPECT_TRUE(eventually([&] { return !announces || exists(key_of(waits)); }));
        // A write is not late if its reply is read before the clock is shifted.
        (void)holder.inspect("other");
        (void)waits.inspect("other");
        const std::int64_t at_first = scripts();
        { const std::scoped_lock held{lock}; }
        time.shift(5s);
        (void)holder.inspect("other"); // runs after the tasks that are due
        const std::int64_t after_pair = scripts();
        server().command({"HSET", "L", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"});
        // The wait has no timeout, because a busy machine may send the last request before a
        // timeout twice, or not at all.
        std::stop_source stop;
        std::thread waiter{
            [&] { EXPECT_THROW(same.lock(stop.get_token()), boost::system::system_error); }};
        EXPECT_TRUE(eventually([&] { return scripts() == after_pair + 2; }));
        (void)waits.inspect("other"); // its reply comes after the replies to the waiter
        time.shift(200ms);
        (void)waits.inspect("other");
        stop.request_stop();
        waiter.join();
        time.shift(5s);
        (void)holder.inspect("other");
        const std::int64_t after_wait = scripts();
        server().command({"DEL", "L"});
        waits.close();
        holder.close();
        return sent_requests{after_pair - at_first, after_wait - after_pair};
    };
    const sent_requests with = requests(true), without = requests(false);
    EXPECT_EQ(with.of_pair, 3) << "lock, unlock and inspect";
    EXPECT_EQ(with.of_pair, without.of_pair);
    EXPECT_EQ(with.of_wait, without.of_wait);
}

TEST_P(ClientKey, ListsAHoldThatIsOlderThanASecondUntilItsRelease) {
    client home{reaching()}, looker{reaching()};
    mutex lock{home, "L"};
    const auto held_for = [&] {
        const std::optional<lock_state> seen = looker.inspect("L");
        return seen ? seen->owners.at(0).held_for : std::nullopt;
    };
    lock.lock();
    ASSERT_TRUE(eventually([&] { return held_for().has_value(); }));
    EXPECT_GE(*held_for(), 1s);
    EXPECT_EQ(server().command({"ZRANGE", "holdfast_clients", "0", "-1"}).items.at(0).text,
              home.id());
    const lock_list active = looker.list_active();
    ASSERT_EQ(active.locks.size(), 1u);
    EXPECT_EQ(active.locks[0].name, "L");
    EXPECT_TRUE(active.locks[0].owners.at(0).held_since);
    EXPECT_EQ(active.requests, 3u) << "the index, the list of its holder, and the lock";
    EXPECT_TRUE(active.complete);
    EXPECT_TRUE(looker.list().locks.at(0).owners.at(0).held_for);
    lock.unlock();
    EXPECT_TRUE(eventually([&] { return !exists("holdfast_clients"); }));
    EXPECT_TRUE(looker.list_active().locks.empty());
}

TEST_P(ClientKey, ListsACallThatWaitsLongerThanASecond) {
    client holder{reaching()}, waits{reaching()}, looker{reaching()};
    mutex lock{holder, "L"}, of_waiter{waits, "L"};
    const std::optional<lock_state> seen =
        seen_beside_a_waiter(lock, of_waiter, looker, "L", [](const lock_state& each) {
            return each.owners.at(0).held_for.has_value();
        });
    ASSERT_EQ(seen->waiters.size(), 1u);
    EXPECT_EQ(seen->waiters[0].text, waits.id());
    EXPECT_FALSE(seen->waiters[0].registered);
    EXPECT_EQ(seen->waiters[0].kind, "plain");
    EXPECT_GE(seen->waiters[0].waiting_for, 1s);
    EXPECT_GT(seen->waiters[0].timeout_left, 50min);
    EXPECT_EQ(seen->waiters[0].client->pid, runtime::this_process().pid);
}

TEST_P(ClientKey, ListsTheWaiterOfAFairLockAtItsPlaceInTheQueue) {
    client holder{reaching()}, waits{reaching()}, looker{reaching()};
    fair_mutex lock{holder, "F"}, of_waiter{waits, "F"};
    const std::optional<lock_state> seen =
        seen_beside_a_waiter(lock, of_waiter, looker, "F", [](const lock_state& each) {
            return each.waiters[0].waiting_for.has_value();
        });
    ASSERT_EQ(seen->waiters.size(), 1u);
    EXPECT_TRUE(seen->waiters[0].registered);
}

TEST_P(ClientKey, ExecutorDestroyedBeforeTheClientEndsTheLoopThatWritesTheList) {
    for (const bool unlocks : {false, true}) {
        std::optional<asio::io_context> io{std::in_place, 1};
        options how = reaching();
        how.executor_is_serial = true;
        client home{io->get_executor(), std::move(how)};
        mutex lock{home, "L"};
        bool has_taken = false;
        const auto use = [&]() -> asio::awaitable<void> {
            lease held = co_await lock.async_lock(asio::use_awaitable);
            has_taken = true;
            if (unlocks)
                co_await held.async_unlock(asio::use_awaitable);
        };
        asio::co_spawn(*io, use(), asio::detached);
        io->run_for(300ms);
        EXPECT_TRUE(has_taken);
        io.reset();
        server().command({"DEL", "L"});
    }
}

TEST_P(ClientKey, ListOfActiveLocksHasOnlyNamesWithThePrefix) {
    options shop = reaching(), desk = reaching(), all = reaching();
    shop.prefix = "shop:";
    desk.prefix = "desk:";
    client of_shop{std::move(shop)}, of_desk{std::move(desk)}, looker{std::move(all)};
    mutex in_shop{of_shop, "L"}, in_desk{of_desk, "L"};
    const std::scoped_lock held{in_shop, in_desk};
    ASSERT_TRUE(eventually([&] { return looker.list_active().locks.size() == 2; }));
    const lock_list only = of_shop.list_active();
    ASSERT_EQ(only.locks.size(), 1u);
    EXPECT_EQ(only.locks[0].name, "shop:L");
    EXPECT_FALSE(looker.list_active(1).complete);
}

TEST_P(ClientKey, ListOfActiveLocksIsFilteredAndSortedBeforeItsLimit) {
    options in_app = reaching();
    in_app.prefix = "app:";
    client home{std::move(in_app)}, waits{reaching()};
    mutex oldest{home, "shop"}, last{home, "desk"}, of_waiter{waits, "app:desk"};
    oldest.lock();
    ASSERT_TRUE(eventually([&] { return home.list_active().locks.size() == 1; }));
    last.lock();
    std::thread waiter{[&] {
        if (of_waiter.try_lock_for(1h))
            of_waiter.unlock();
    }};
    EXPECT_TRUE(eventually([&] {
        const lock_list all = home.list_active();
        return all.locks.size() == 2 && !all.locks[0].waiters.empty();
    }));
    const auto first = [&](active_order by, const std::string& text = {}) {
        const lock_list found = home.list_active(1, by, text);
        EXPECT_EQ(found.complete, !text.empty());
        return found.locks.size() == 1 ? found.locks[0].name : "";
    };
    EXPECT_EQ(first(active_order::wait), "app:desk");
    EXPECT_EQ(first(active_order::held), "app:shop");
    EXPECT_EQ(first(active_order::name), "app:desk");
    EXPECT_EQ(first(active_order::wait, "ho"), "app:shop");
    EXPECT_TRUE(home.list_active(1, active_order::wait, "app").locks.empty());
    last.unlock();
    waiter.join();
}

TEST_P(ClientKey, WithoutTheRightToTheIndexLocksWorkAndAreShown) {
    server().command(
        {"ACL", "SETUSER", "app", "on", ">its", "+@all", "-zadd", "-zrevrangebyscore", "~*", "&*"});
    client home{reaching("app")};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] {
        return server().command({"GET", key_of(home)}).text.find("\"holds\"") != std::string::npos;
    }));
    EXPECT_FALSE(exists("holdfast_clients"));
    const std::optional<lock_state> seen = home.inspect("L");
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->owners.at(0).held_for);
    EXPECT_THROW((void)home.list_active(), boost::system::system_error);
    lock.unlock();
    ASSERT_EQ(told_->count(event_kind::impaired), 1u);
    EXPECT_THAT(told_->last(event_kind::impaired)->text, HasSubstr("~holdfast_clients"));
    bool is_named = false;
    for (const finding& each : home.doctor("trial").findings)
        is_named = is_named || each.remedy.find("~holdfast_clients") != std::string::npos;
    EXPECT_TRUE(is_named);
}

TEST_P(ClientKey, OfAnotherProgramWithOddContentIsSkipped) {
    const std::string odd = "8743c9c0-0795-8fd5-87fd-6c719a6b4586";
    client home{reaching()};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return exists("holdfast_clients"); }));
    for (const std::string& name : {odd, std::string{"no uuid"}, std::string(36, 'x')})
        server().command({"ZADD", "holdfast_clients", "99999999999999", name});
    for (const char* const text :
         {"no JSON", "[]", "{\"holds\": 7, \"waits\": {}}",
          "{\"holds\": [7, {}, {\"name\": 1}, {\"name\": \"L\", \"since\": \"x\"}]}",
          "{\"waits\": [{\"name\": \"other\", \"since\": {}, \"deadline\": []}]}"}) {
        server().command({"SET", "holdfast_client:" + odd, text});
        EXPECT_EQ(home.list_active().locks.size(), 1u) << text;
    }
    lock.unlock();
}

/// Another program's entry in the index, and the key that it has written.
class OtherClientKey : public ClientKey {
protected:
    void write_key(const std::string& text) {
        const std::string uuid = "8743c9c0-0795-8fd5-87fd-6c719a6b4586";
        server().command({"ZADD", "holdfast_clients", "99999999999999", uuid});
        server().command({"SET", "holdfast_client:" + uuid, text});
        server().command({"HSET", "L", uuid + ":7", "1"});
    }
    void SetUp() override {
        ClientKey::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            looker_.emplace(reaching());
    }
    std::optional<client> looker_{};
};
HOLDFAST_ON_EACH_SERVER(OtherClientKey);

TEST_P(OtherClientKey, ThatDoesNotListAllItsHoldsOrWaitsMakesTheListIncomplete) {
    for (const std::string list : {"holds", "waits"})
        for (const std::string total : {"1", "2"}) {
            write_key("{\"" + list + "\": [{\"name\": \"L\"}], \"" + list + "_total\": " + total +
                      "}");
            const lock_list seen = looker_->list_active();
            EXPECT_EQ(seen.locks.size(), 1u);
            EXPECT_EQ(seen.complete, total == "1") << list;
        }
}

TEST_P(OtherClientKey, WithHeldPermitsAndFreeLocksLeavesPlaceForHeldLocks) {
    std::string holds;
    for (int i = 0; i < 50; ++i)
        holds += "{\"name\": \"S" + std::to_string(i) + "\", \"kind\": \"permit\", \"since\": 1},";
    for (int i = 0; i < 40; ++i)
        holds += "{\"name\": \"F" + std::to_string(i) + "\", \"kind\": \"plain\", \"since\": 1},";
    write_key("{\"holds\": [" + holds + "{\"name\": \"L\", \"kind\": \"plain\", \"since\": 2}]}");
    const lock_list seen = looker_->list_active(1);
    ASSERT_EQ(seen.locks.size(), 1u);
    EXPECT_EQ(seen.locks[0].name, "L");
    EXPECT_TRUE(seen.complete);
}

TEST_P(OtherClientKey, OfADeadClientShowsNoWaits) {
    const std::string valid = "\"name\": \"L\", \"kind\": \"plain\", \"since\": 1";
    const auto waiters = [&](const std::string& text) {
        write_key(text);
        return looker_->inspect("L")->waiters.size();
    };
    EXPECT_EQ(waiters("{\"waits\": [{" + valid + "}], \"waits_until\": 99999999999999}"), 1u);
    EXPECT_EQ(waiters("{\"waits\": [{" + valid + "}], \"waits_until\": 2}"), 0u);
    EXPECT_EQ(waiters("{\"waits\": [{" + valid + ", \"deadline\": 2}]}"), 0u);
}

TEST_P(OtherClientKey, ListsNamesWithCharactersThatJsonMayEscape) {
    for (const std::string name : {"a/b", "a b", "\x7f", "\xc3\xa4", "{a}:b"}) {
        server().command({"HSET", name, "8743c9c0-0795-8fd5-87fd-6c719a6b4586:7", "1"});
        write_key("{\"waits\": [{\"name\": \"" + name + "\", \"kind\": \"plain\"}]}");
        EXPECT_EQ(looker_->inspect(name)->waiters.size(), 1u) << name;
    }
}

TEST_P(OtherClientKey, WithLongTextsIsCut) {
    const std::string text(10'000, 'x');
    write_key("{\"host\": \"" + text + "\", \"program\": \"" + text + "\", \"label\": \"" + text +
              "\", \"waits\": [{\"name\": \"L\", \"kind\": \"" + text + "\"}]}");
    const std::optional<lock_state> seen = looker_->inspect("L");
    ASSERT_TRUE(seen && seen->waiters.size() == 1);
    const lock_waiter& waiter = seen->waiters[0];
    EXPECT_EQ(waiter.client->host.size(), 256u);
    EXPECT_EQ(waiter.client->program.size(), 256u);
    EXPECT_EQ(waiter.client->label.size(), 256u);
    EXPECT_EQ(waiter.kind.size(), 32u);
    EXPECT_EQ(seen->owners.at(0).client->host.size(), 256u);
}

TEST_P(OtherClientKey, ThatIsVeryLargeIsNotDecodedAndMakesTheListIncomplete) {
    write_key("{\"host\": \"" + std::string(1'000'000, 'x') +
              "\", \"holds\": [{\"name\": \"L\"}]}");
    const lock_list seen = looker_->list_active();
    EXPECT_TRUE(seen.locks.empty());
    EXPECT_FALSE(seen.complete);
    EXPECT_EQ(looker_->inspect("L")->owners.at(0).client->host, "");
}

TEST_P(OtherClientKey, IsReadOnlyByInspectWithAllDetails) {
    write_key("{\"waits\": [{\"name\": \"L\", \"kind\": \"plain\", \"since\": 1}]}");
    (void)looker_->inspect("L"); // now the server knows the scripts
    std::int64_t before = scripts();
    EXPECT_EQ(looker_->inspect("L", lock_details::stored)->waiters.size(), 0u);
    EXPECT_EQ(scripts() - before, 2) << "the lock and its owner";
    before = scripts();
    EXPECT_EQ(looker_->inspect("L")->waiters.size(), 1u);
    EXPECT_EQ(scripts() - before, 4) << "and the index, and the clients in it";
}

TEST_P(OtherClientKey, IsReadWithManyOthersInFewShortRequests) {
    const std::string waits = [] {
        std::string all;
        for (int i = 0; i < 100; ++i)
            all += std::string{i > 0 ? "," : ""} + "{\"name\": \"N" + std::to_string(i) +
                   "\", \"kind\": \"plain\", \"since\": 1}";
        return all;
    }();
    for (int i = 100; i < 300; ++i) {
        const std::string uuid = "8743c9c0-0795-8fd5-87fd-6c719a6b4" + std::to_string(i);
        server().command({"ZADD", "holdfast_clients", "99999999999999", uuid});
        server().command({"SET", "holdfast_client:" + uuid, "{\"waits\": [" + waits + "]}"});
    }
    write_key("{\"waits\": [{\"name\": \"L\", \"kind\": \"plain\", \"since\": 1}]}");
    std::int64_t before = scripts();
    EXPECT_EQ(looker_->list_active().locks.size(), 1u) << "the other locks are free";
    EXPECT_GE(scripts() - before, 20) << "a request reads at most a thousand holds and waits";
    before = scripts();
    EXPECT_EQ(looker_->inspect("L")->waiters.size(), 1u);
    EXPECT_LE(scripts() - before, 8) << "clients without this name cost little";
}

TEST_P(ClientKey, WithATimeThatNoClientWritesIsShownWithoutTheTime) {
    client home{reaching()};
    const std::string other = "8743c9c0-0795-8fd5-87fd-6c719a6b4586";
    server().command({"HSET", "L", other + ":1", "1"});
    server().command({"ZADD", "holdfast_clients", "99999999999999", other});
    for (const char* const since : {"-1", "0", "-1e300", "\"nan\"", "1500000000000"}) {
        server().command({"SET", "holdfast_client:" + other,
                          std::string{"{\"holds\": [{\"name\": \"L\", \"owner\": \"1\", "
                                      "\"since\": "} +
                              since + "}]}"});
        const lock_list seen = home.list_active();
        ASSERT_EQ(seen.locks.size(), 1u) << since;
        EXPECT_FALSE(seen.locks[0].owners.at(0).held_for) << since;
        EXPECT_FALSE(seen.locks[0].owners.at(0).held_since) << since;
    }
}

TEST_P(ClientKey, ThatMayNotBeWrittenIsToldOnceAndFailsNoLock) {
    server().command({"ACL", "SETUSER", "app", "on", ">its", "+@all", "-set", "~*", "&*"});
    client home{reaching("app")};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::impaired) == 1; }));
    lock.unlock();
    lock.lock(lease_time{1h}); // due again, and denied again
    lock.unlock();
    home.close();
    EXPECT_EQ(told_->count(event_kind::impaired), 1u);
    EXPECT_THAT(told_->last(event_kind::impaired)->text,
                HasSubstr("granted: +set +del ~holdfast_client:*"));
}

TEST_P(ClientKey, OfARestartedServerIsWrittenAgain) {
    client home{reaching()};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    server().command({"FLUSHALL"});
    lock.lock(lease_time{2min}); // a longer hold is due at once
    EXPECT_TRUE(eventually([&] { return exists(key_of(home)); }));
    lock.unlock();
}

TEST_P(ClientKey, DoesNotKeepAClientThatClosesFromADeadServer) {
    redis::options patient{.unix_socket = server().socket_path()};
    patient.command_timeout = 2 * support::far_too_long;
    options how = reaching();
    how.store = redis::make_store(patient);
    how.close_timeout = 2 * support::far_too_long;
    client home{std::move(how)};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    server().pause();
    const auto before = std::chrono::steady_clock::now();
    home.close();
    EXPECT_LT(std::chrono::steady_clock::now() - before, support::far_too_long);
    server().resume();
}

} // namespace
} // namespace holdfast

namespace holdfast::redis {
namespace {

// A server's name that leads elsewhere while its old server goes on, and one whose server dies. In
// simulated time, but names are looked up by another thread.

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FixedAddress : public on_fake_server {
protected:
    static constexpr const char *old = "127.0.0.1", *next = "127.0.0.2";

    FixedAddress() {
        server_.stop(); // then whatever is to be done is this test's
        how_.unix_socket.clear();
        how_.host = name_of_test() + ".test";
        support::set_address(how_.host, old);
        support::hold_back(how_.host);
    }
    ~FixedAddress() override { close_watch(); }

    void close_watch() {
        if (watch_)
            watch_->close();
        settle();
        watch_.reset();
        EXPECT_TRUE(is_at_rest());
    }

    fixed_address& watch() {
        if (!watch_) {
            known_ = std::make_shared<node_context>(how_, context());
            known_->leave_server = [this](const net::failure& why) {
                EXPECT_EQ(why.code(), errc::unreachable);
                left_.push_back(why.text());
            };
            watch_ = std::make_shared<fixed_address>(known_);
        }
        return *watch_;
    }

    /// The connection for requests leads there now.
    void meet(const char* address, std::string run_id = "run-1") {
        server_hello told;
        told.run_id = std::move(run_id);
        told.peer = asio::ip::tcp::endpoint{asio::ip::make_address(address), how_.port};
        watch().on_connected(told);
        settle();
    }

    std::size_t look_ups() const { return support::look_ups_of(how_.host); }

    /// As long as it takes until the name is looked up, and the answer is there; so often.
    void look_up(int times = 1) {
        while (times-- > 0) {
            const std::size_t before = look_ups();
            pass(how_.address_check);
            ASSERT_TRUE(support::eventually([&] { return look_ups() > before; }));
            support::let_go(how_.host);
            io_.restart();
            ASSERT_EQ(io_.run_one_for(support::far_too_long), 1u);
            settle();
        }
    }

    /// Nobody does anything, nor will.
    bool is_at_rest() {
        settle();
        return io_.stopped() && clock_.sleepers() == 0;
    }

    std::vector<std::string> left_;

private:
    static std::string name_of_test() {
        std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
        std::ranges::transform(name, name.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return name;
    }

    std::shared_ptr<node_context> known_;
    std::shared_ptr<fixed_address> watch_;
};

TEST_F(FixedAddress, IsLookedUpNowAndThenWhileThereIsAConnection) {
    watch();
    pass(1min);
    EXPECT_EQ(look_ups(), 0u) << "nobody is connected";
    meet(old);
    look_up(5);
    EXPECT_EQ(look_ups(), 5u);
    EXPECT_THAT(left_, IsEmpty());
    watch().on_disconnected();
    EXPECT_TRUE(is_at_rest());
}

TEST_F(FixedAddress, IsLeftWhenItsNameHasLedElsewhereThreeTimesRunning) {
    meet(old);
    look_up();
    support::set_address(how_.host, next);
    look_up(2);
    EXPECT_THAT(left_, IsEmpty()) << "some names rotate";
    look_up();
    EXPECT_THAT(left_, ElementsAre(AllOf(HasSubstr(how_.host), HasSubstr("127.0.0.1:6379"))));
}

TEST_F(FixedAddress, IsKeptWhereItsNameRotates) {
    meet(old);
    for (int i = 0; i < 4; ++i) {
        support::set_address(how_.host, next);
        look_up(2);
        support::set_address(how_.host, old);
        look_up();
    }
    EXPECT_THAT(left_, IsEmpty());
}

TEST_F(FixedAddress, IsKeptWhereItIsOneOfSeveral) {
    meet(next);
    support::set_addresses(how_.host, {old, next});
    look_up(6);
    EXPECT_THAT(left_, IsEmpty());
}

TEST_F(FixedAddress, IsKeptWhileItsNameIsNotToBeFound) {
    meet(old);
    support::set_address(how_.host, "");
    look_up(6);
    EXPECT_THAT(left_, IsEmpty());
    support::set_address(how_.host, next);
    look_up(2);
    support::set_address(how_.host, "");
    look_up();
    support::set_address(how_.host, next);
    look_up();
    EXPECT_EQ(left_.size(), 1u) << "what was not found out says nothing, either way";
}

TEST_F(FixedAddress, OfAnotherPortOfTheSameHostIsMissing) {
    server_hello told;
    told.peer = asio::ip::tcp::endpoint{asio::ip::make_address(old), 1};
    watch().on_connected(told);
    look_up(3);
    EXPECT_EQ(left_.size(), 1u);
}

TEST_F(FixedAddress, BeginsToCountAnewWithEachConnection) {
    meet(old);
    support::set_address(how_.host, next);
    look_up(2);
    watch().on_disconnected();
    meet(old); // it is still the one that the resolver told of first
    look_up(2);
    EXPECT_THAT(left_, IsEmpty());
    look_up();
    EXPECT_EQ(left_.size(), 1u);
}

TEST_F(FixedAddress, OfAServerThatDiesIsNotLookedUpWhileNobodyIsConnected) {
    meet(old);
    look_up();
    watch().on_disconnected();
    support::set_address(how_.host, next);
    EXPECT_TRUE(is_at_rest()) << "each connection looks it up anyway";
    meet(next, "run-2");
    look_up(4);
    EXPECT_THAT(left_, IsEmpty());
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(FixedAddress, ThatIsNumericOrAPathOrWantedSoIsNeverLookedUp) {
    const std::string name = std::exchange(how_.host, old);
    meet(old);
    EXPECT_TRUE(is_at_rest());
    close_watch();
    how_.host = name;
    how_.address_check = 0ms;
    meet(old);
    EXPECT_TRUE(is_at_rest());
    close_watch();
    how_.address_check = 5s;
    how_.unix_socket = "/run/redis";
    meet(old);
    EXPECT_TRUE(is_at_rest());
}

TEST_F(FixedAddress, TellsTheObserverThatAnotherServerHasTheLocks) {
    meet(old, "run-1");
    EXPECT_EQ(told_.count(event_kind::moved), 0u) << "it has only been found";
    watch().on_disconnected();
    meet(next, "run-2");
    ASSERT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_EQ(told_.last(event_kind::moved)->name, "127.0.0.2:6379");
    EXPECT_EQ(told_.last(event_kind::moved)->text, "the name " + how_.host);
    meet("::1", "run-3");
    EXPECT_EQ(told_.last(event_kind::moved)->name, "[::1]:6379");
}

TEST_F(FixedAddress, IsNoLongerOfInterestWhenTheClientIsClosedMeanwhile) {
    meet(old);
    pass(how_.address_check);
    ASSERT_TRUE(support::eventually([&] { return look_ups() == 1; }));
    support::set_address(how_.host, next);
    watch().close();
    settle();
    EXPECT_EQ(clock_.sleepers(), 0u) << "nobody waits for a resolver that hangs";
    support::let_go(how_.host);
    io_.restart();
    io_.run_one_for(support::far_too_long);
}

TEST_F(FixedAddress, OfTheSameServerIsNoOther) {
    meet(old, "run-1");
    meet(next, "run-1"); // it has several
    meet(next, "run-2"); // it was restarted
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
}

TEST_F(FixedAddress, AloneTellsServersApartThatDoNotSayWhoTheyAre) {
    meet(old, "");
    meet(old, "");
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    meet(next, "");
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

} // namespace
} // namespace holdfast::redis
