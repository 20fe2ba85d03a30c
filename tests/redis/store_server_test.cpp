// SPDX-License-Identifier: Apache-2.0
// The store as a client gets it: `make_store`, its connection and its scripts on each server.
#include "redis/topology/slot_map.hpp"
#include "runtime/clock.hpp"
#include "store/redis/redis_store.hpp"
#include "store_fixture.hpp"
#include "support/holds.hpp"
#include "support/on_each_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

class ContextOfClient : public support::on_each_server {};
HOLDFAST_ON_EACH_SERVER(ContextOfClient);

TEST_P(ContextOfClient, MayEndWhileAChangeOfACounterWaitsForTheServer) {
    server().pause();
    bool completed = false;
    {
        asio::io_context io{1};
        options how;
        how.url = server().url();
        client home{io.get_executor(), std::move(how)};
        leased_semaphore seats{home, {"seats"}};
        seats.async_try_set_permits(3, [&completed](error_code, bool) { completed = true; });
        while (io.poll() > 0) {
        }
    }
    EXPECT_FALSE(completed) << "the server has not answered";
    server().resume();
}

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

// The doctor's trial lock is given back on every way out, and what is left behind is gone soon.

class Examination : public on_scripted_node {
protected:
    Examination() {
        context_.announce = false;
        node_.decide = [this](const scripted_node::request& made) { return served(made); };
    }

    std::vector<finding> examined() {
        ask trial = want(duration::max());
        return complete(redis::examine_server(node_, context_, std::move(trial)));
    }
    std::size_t asked_for(std::string_view script) const {
        return static_cast<std::size_t>(
            std::ranges::count(node_.asked, script, &scripted_node::request::script));
    }
    static bool says(const std::vector<finding>& all, severity how_bad, std::string_view topic) {
        return std::ranges::any_of(all, [&](const finding& each) {
            return each.how_bad == how_bad && each.topic == topic;
        });
    }

    /// Faults of the next requests of a script, in order.
    std::map<std::string, std::deque<error_code>> trouble_;
    bool busy_ = false; ///< somebody else has the lock
    int locks_ = 0;     ///< that the server thinks are held

private:
    std::optional<scripted_node::outcome> served(const scripted_node::request& made) {
        scripted_node::outcome next;
        if (made.script == "examine_server")
            next.answer.type = redis::reply::kind::text;
        if (made.script == "lock_mutex")
            next.answer = scripted_node::array_of({busy_ ? 0 : 1, 0, server_time});
        if (made.script == "renew_leases")
            next.answer = scripted_node::array_of({1});
        if (made.script == "release_mutex")
            next.answer = scripted_node::array_of({1, 0});
        std::deque<error_code>& bad = trouble_[made.script];
        if (!bad.empty()) {
            next.failure = bad.front();
            bad.pop_front();
        }
        if (made.script == "lock_mutex" && next.failure != errc::unreachable)
            locks_ = 1; // though nobody may be told
        if (made.script == "release_mutex" && !next.failure)
            locks_ = 0;
        return next;
    }
};

TEST_F(Examination, ReleasesItsLock) {
    EXPECT_TRUE(says(examined(), severity::fine, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 1u);
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, ReleasesALockThatCouldNotBeRenewed) {
    trouble_["renew_leases"] = {make_error_code(store_errc::no_permission)};
    const std::vector<finding> found = examined();
    EXPECT_TRUE(says(found, severity::danger, "rights"));
    EXPECT_FALSE(says(found, severity::fine, "rights"));
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, ReleasesALockThatItMayHave) {
    trouble_["lock_mutex"] = {make_error_code(errc::outcome_unknown)};
    EXPECT_TRUE(says(examined(), severity::danger, "rights"));
    EXPECT_EQ(locks_, 0);
    EXPECT_EQ(asked_for("renew_leases"), 0u);
}

TEST_F(Examination, ReleasesNothingThatItCannotHave) {
    for (const error_code& why :
         {make_error_code(errc::unreachable), make_error_code(errc::overloaded),
          make_error_code(errc::closed), make_error_code(store_errc::no_permission)}) {
        trouble_["lock_mutex"] = {why};
        EXPECT_TRUE(says(examined(), severity::danger, "rights"));
        EXPECT_EQ(asked_for("release_mutex"), 0u) << why;
    }
}

TEST_F(Examination, ReleasesNobodyElsesLock) {
    busy_ = true;
    EXPECT_TRUE(says(examined(), severity::note, "rights"));
    EXPECT_EQ(asked_for("renew_leases") + asked_for("release_mutex"), 0u);
}

TEST_F(Examination, DoesNotRepeatAReleaseThatIsRefused) {
    for (const error_code& why :
         {make_error_code(store_errc::no_permission), make_error_code(errc::closed)}) {
        node_.asked.clear();
        trouble_["release_mutex"] = {why};
        EXPECT_TRUE(says(examined(), severity::danger, "rights"));
        EXPECT_EQ(asked_for("release_mutex"), 1u) << why;
    }
}

TEST_F(Examination, RepeatsAReleaseThatWasNotAnswered) {
    trouble_["release_mutex"] = {make_error_code(errc::outcome_unknown),
                                 make_error_code(errc::unreachable)};
    EXPECT_TRUE(says(examined(), severity::fine, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 3u);
    EXPECT_EQ(locks_, 0);
}

TEST_F(Examination, LeavesALockThatItCannotReleaseForSomeSecondsAtMost) {
    const std::deque<error_code> never(10, make_error_code(errc::outcome_unknown));
    trouble_["release_mutex"] = never;
    EXPECT_TRUE(says(examined(), severity::danger, "rights"));
    EXPECT_EQ(asked_for("release_mutex"), 3u);
    for (const scripted_node::request& each : node_.asked) {
        if (each.script == "lock_mutex" || each.script == "renew_leases") {
            EXPECT_EQ(each.words.at(0), "10000"); // of a lease time of thirty seconds
        }
    }
}

TEST(StoreIdentity, IsThatOfItsServer) {
    asio::io_context io;
    sim::sim_clock clock{io};
    auto node = std::make_unique<scripted_node>(clock);
    node->who.id = "0123";
    const store_context context{io.get_executor(), clock, {}, {}, {}, {}, {}};
    const redis::redis_store store{std::move(node), context};
    EXPECT_EQ(store.identity("any").id, "0123");
}

// A release that is not waited for, on each way to a real server: what the same thread asks next
// comes behind it.

class DeferredOnServer : public support::on_each_server {
protected:
    /// How often of so many times it was busy behind this thread's own release.
    static int overtaken(client& home, const std::string& name, int rounds) {
        mutex stock{home, name, deferred_release};
        int busy = 0;
        stock.lock();
        for (int i = 0; i < rounds; ++i) {
            stock.unlock();
            if (!stock.try_lock()) {
                ++busy;
                stock.lock();
            }
        }
        stock.unlock();
        return busy;
    }

    /// The same by many threads, each with a lock of its own.
    static int overtaken_by_threads(client& home, int threads, int rounds) {
        std::vector<int> busy(static_cast<std::size_t>(threads));
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&, i] {
                busy[static_cast<std::size_t>(i)] =
                    overtaken(home, "stock" + std::to_string(i), rounds);
            });
        int sum = 0;
        for (int i = 0; i < threads; ++i) {
            all[static_cast<std::size_t>(i)].join();
            sum += busy[static_cast<std::size_t>(i)];
        }
        return sum;
    }
};
HOLDFAST_ON_EACH_SERVER(DeferredOnServer);

TEST_P(DeferredOnServer, IsNotOvertakenWithoutLanes) {
    client home{server().url() + "?blocking_connections_max=0"};
    EXPECT_EQ(overtaken(home, "stock", 500), 0);
}

TEST_P(DeferredOnServer, IsNotOvertakenWhileTheFirstLaneIsMade) {
    for (int i = 0; i < 10; ++i) {
        client home{server().url()};
        EXPECT_EQ(overtaken(home, "stock", 50), 0);
    }
}

TEST_P(DeferredOnServer, IsNotOvertakenOnAnotherLane) {
    client home{server().url() + "?blocking_connections_max=4"};
    EXPECT_EQ(overtaken_by_threads(home, 4, 500), 0);
}

TEST_P(DeferredOnServer, IsNotOvertakenByAVisitorWhereLanesAreFew) {
    client home{server().url() + "?blocking_connections_max=2"};
    EXPECT_EQ(overtaken_by_threads(home, 6, 300), 0);
}

// Compares the slots that real cluster nodes report with the slots that holdfast computes and
// reads.

using ::testing::IsEmpty;

const redis::server_address asked{"asked.internal", 1};

class Slots : public support::on_each_server {
protected:
    Slots()
        : on_each_server{{.tcp = true, .cluster = true}} {}

    std::int64_t slot_by_server(const std::string& key) {
        const redis::reply said = server().command({"CLUSTER", "KEYSLOT", key});
        EXPECT_EQ(said.type, redis::reply::kind::integer) << said.text;
        return said.integer;
    }
    void set(const std::string& name, const std::string& value) {
        EXPECT_EQ(server().command({"CONFIG", "SET", name, value}).text, "OK") << name;
    }
    redis::slot_ranges told() {
        return redis::read_slots(server().command({"CLUSTER", "SLOTS"}), asked);
    }
    std::string host_told() { return told().at(0).primary.host; }
};
HOLDFAST_ON_EACH_SERVER(Slots);

TEST_P(Slots, AreComputedAsTheServerDoes) {
    for (const std::string key :
         {"", "foo", "{", "}", "{}", "{}a", "a{b}", "a{b}{c}", "a{{b}}", "a}{b}", "a{}{b}", "a{b",
          "redisson_lock__channel:{stock}", "\xC3\xA9", "{\xFF}\x80"})
        EXPECT_EQ(redis::key_slot(key), slot_by_server(key)) << key;
    std::minstd_rand random{1};
    for (int i = 0; i < 300; ++i) {
        std::string key(random() % 40, '\0');
        for (char& c : key)
            c = random() % 4 == 0 ? "{}"[random() % 2] : static_cast<char>(random() % 256);
        EXPECT_EQ(redis::key_slot(key), slot_by_server(key)) << testing::PrintToString(key);
    }
}

TEST_P(Slots, AreReadAsTheServerTellsThem) {
    EXPECT_THAT(told(), IsEmpty());
    server().command({"CLUSTER", "ADDSLOTS", "0", "1", "2", "16383"});
    const redis::slot_ranges ranges = told();
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0].first, 0);
    EXPECT_EQ(ranges[0].last, 2);
    EXPECT_EQ(ranges[1].first, 16383);
    EXPECT_EQ(ranges[1].last, 16383);
    for (const redis::slot_range& each : ranges) {
        // The node has not met another node, so it does not know its own address.
        EXPECT_EQ(each.primary, (redis::server_address{"asked.internal", server().port()}));
        EXPECT_THAT(each.replicas, IsEmpty());
    }
}

TEST_P(Slots, ComeWithTheNameThatANodePrefers) {
    server().command({"CLUSTER", "ADDSLOTS", "0"});
    set("cluster-announce-ip", "10.0.0.7");
    EXPECT_EQ(host_told(), "10.0.0.7");
    set("cluster-preferred-endpoint-type", "hostname"); // and it has none: it tells "?"
    EXPECT_EQ(host_told(), "10.0.0.7");
    set("cluster-announce-hostname", "db1.internal");
    EXPECT_EQ(host_told(), "db1.internal");
    set("cluster-preferred-endpoint-type", "unknown-endpoint"); // it tells nothing
    EXPECT_EQ(host_told(), "asked.internal");
}

/// Returns the reply to a script that reads `a`, in a cluster that is down because it does not
/// serve all slots.
class SlotsOfAScript : public Slots {
protected:
    redis::redirection meant(const std::string& keys) {
        const redis::reply said =
            server().command({"EVAL", "return redis.call('get', 'a')", keys, "a"});
        EXPECT_EQ(said.type, redis::reply::kind::error);
        error_ = said.text;
        return redis::read_redirection(said.text, asked.host);
    }
    void serve_it() {
        const std::string slot = std::to_string(redis::key_slot("a"));
        EXPECT_EQ(server().command({"CLUSTER", "ADDSLOTS", slot}).text, "OK");
    }

    std::string error_;
};
HOLDFAST_ON_EACH_SERVER(SlotsOfAScript);

using enum redis::redirection::outcome;
using kind_of_place = redis::redirection::kind;

TEST_P(SlotsOfAScript, ThatNobodyServesAreWaitedForIfItsKeyIsDeclared) {
    const redis::redirection told = meant("1");
    EXPECT_EQ(told.what, kind_of_place::pause) << error_;
    EXPECT_EQ(told.done, not_carried_out) << error_;
}

TEST_P(SlotsOfAScript, ThatNobodyServesAreNotHereIfItsKeyIsNotDeclared) {
    const redis::redirection told = meant("0");
    EXPECT_EQ(told.what, kind_of_place::not_here) << error_;
    EXPECT_EQ(told.done, unknown) << error_;
}

TEST_P(SlotsOfAScript, AreWaitedForWhereTheClusterIsDown) {
    serve_it();
    for (const char* keys : {"1", "0"}) {
        const redis::redirection told = meant(keys);
        EXPECT_EQ(told.what, kind_of_place::pause) << error_;
        EXPECT_EQ(told.done, not_carried_out) << error_;
    }
}

TEST_P(Slots, AreNotToldByAServerThatIsNoNode) {
    support::redis_server single{GetParam()};
    const redis::reply said = single.command({"CLUSTER", "SLOTS"});
    EXPECT_THROW((void)redis::read_slots(said, asked), boost::system::system_error);
    EXPECT_EQ(redis::read_redirection(said.text, asked.host).what, redis::redirection::kind::none);
}

} // namespace
} // namespace holdfast
