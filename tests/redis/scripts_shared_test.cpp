// SPDX-License-Identifier: Apache-2.0
// lock_read.lua, lock_write.lua, release_read.lua, release_write.lua and renew_reads.lua.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

class SharedScripts : public on_limited_scripts {
protected:
    // Ours, and of other clients; a JVM's has version 4.
    static std::string ours(int number) {
        return "aaaaaaaa-0000-8fd5-8000-000000000001:" + std::to_string(number);
    }
    static constexpr const char* jvm = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";

    static std::string timer(const std::string& owner, int k = 1) {
        return "{L}:" + owner + ":rwlock_timeout:" + std::to_string(k);
    }
    redis::reply read(const std::string& owner, std::int64_t lease = 30'000,
                      const std::string& under = {}, std::int64_t deadline = 0) {
        return run(redis::scripts::lock_read, {name_, timer(owner), marks_},
                   {std::to_string(lease), owner, std::to_string(deadline), under});
    }
    redis::reply write(const std::string& owner, std::int64_t lease = 30'000,
                       const std::string& under = {}, std::int64_t marked_for = 0,
                       std::int64_t deadline = 0) {
        return run(redis::scripts::lock_write, {name_, marks_},
                   {std::to_string(lease), owner, std::to_string(deadline), under, "{L}",
                    std::to_string(marked_for), "150"});
    }
    numbers end_read(const std::string& owner) {
        return integers_of(run(redis::scripts::release_read, {name_, timer(owner), marks_},
                               {owner, "{L}", rw_channel_, "PUBLISH"}));
    }
    numbers end_write(const std::string& owner) {
        return integers_of(run(redis::scripts::release_write, {name_, marks_},
                               {owner, "{L}", rw_channel_, "PUBLISH"}));
    }
    numbers renew_reads(const std::vector<std::string>& owners, std::int64_t lease) {
        std::vector<std::string> keys, arguments{std::to_string(lease), ""};
        for (const std::string& each : owners) {
            keys.insert(keys.end(), {name_, timer(each)});
            arguments.push_back(each);
        }
        return integers_of(run(redis::scripts::renew_reads, keys, arguments));
    }
    static std::int64_t said(const redis::reply& answer) { return integers_of(answer).at(0); }
    std::string mode() { return count_of("mode"); }
    std::int64_t left_of(const std::string& key) { return ask({"PTTL", key}); }
    bool is_marked() { return ask({"EXISTS", marks_}) == 1; }
    std::vector<redis::reply> keys() { return server().command({"KEYS", "*"}).items; }

    std::string marks_ = "holdfast_writers:{L}";
    std::string rw_channel_ = "redisson_rwlock:{L}";
};
HOLDFAST_ON_EACH_SERVER(SharedScripts);

TEST_P(SharedScripts, ReadersShareAsRedissonsDo) {
    EXPECT_EQ(said(read(ours(1), 30'000)), 1);
    EXPECT_EQ(said(read(jvm, 60'000)), 1);
    EXPECT_EQ(mode(), "read");
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_THAT(left_of(timer(ours(1))), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_GT(time_left(), 54'000);
    EXPECT_THAT(integers_of(write(ours(2))), ElementsAre(0, Gt(54'000), Gt(0)));
}

TEST_P(SharedScripts, InspectionOmitsReadersWhoseTimersHaveExpired) {
    const auto told = [this] {
        std::vector<std::string> fields;
        for (const redis::reply& each : inspect().items)
            fields.push_back(each.text);
        std::erase(fields, "mode");
        std::erase(fields, ""); // the remaining lease, which is a number
        return fields;
    };
    const std::string writer = ours(1) + ":write";
    EXPECT_EQ(said(write(ours(1), 60'000)), 1);
    EXPECT_EQ(said(read(ours(2), 30'000, writer)), 1);
    EXPECT_THAT(told(), UnorderedElementsAre(writer, ours(2)));
    server().command({"DEL", timer(ours(2))});
    EXPECT_THAT(told(), ElementsAre(writer));
    server().command({"HSET", name_, jvm, "1"});
    EXPECT_THAT(told(), UnorderedElementsAre(writer, jvm)) << "a JVM may hold without a timer";
    server().command({"DEL", name_});
    EXPECT_EQ(said(read(ours(2))), 1);
    EXPECT_THAT(told(), ElementsAre(ours(2)));
    server().command({"DEL", timer(ours(2))});
    EXPECT_TRUE(inspect().items.empty()) << "nobody holds the lock";
}

TEST_P(SharedScripts, TakingTwiceIsTakingOnceExtendsAndIsWritten) {
    read(ours(1), 30'000);
    const std::int64_t before = changes();
    EXPECT_EQ(said(read(ours(1), 1'000)), 1);
    EXPECT_GT(changes(), before);
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_GT(left_of(timer(ours(1))), 24'000);
    EXPECT_EQ(said(read(ours(1), 60'000)), 1);
    EXPECT_GT(left_of(timer(ours(1))), 54'000);
    end_read(ours(1));
    write(ours(2), 30'000);
    EXPECT_EQ(said(write(ours(2), 60'000)), 1);
    EXPECT_EQ(count_of(ours(2) + ":write"), "1");
    EXPECT_GT(time_left(), 54'000);
    EXPECT_EQ(said(write(ours(2), 1'000)), 1);
    EXPECT_GT(time_left(), 54'000);
}

TEST_P(SharedScripts, AWriterKeepsAllOthersOut) {
    EXPECT_EQ(said(write(ours(1))), 1);
    EXPECT_EQ(mode(), "write");
    EXPECT_THAT(integers_of(read(jvm)), ElementsAre(0, Gt(24'000), Gt(0)));
    EXPECT_EQ(said(write(ours(2), 30'000, {}, 5'000)), 0);
    EXPECT_FALSE(is_marked()) << "after a writer everybody has the same chance";
    EXPECT_THAT(end_write(ours(1)), ElementsAre(1, 0));
    EXPECT_THAT(end_write(ours(1)), ElementsAre(0, 0));
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(SharedScripts, LateIsRefused) {
    EXPECT_EQ(said(read(ours(1), 30'000, {}, server_micros() - 1)), 2);
    EXPECT_EQ(said(write(ours(1), 30'000, {}, 5'000, server_micros() - 1)), 2);
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(SharedScripts, ALockOfAnotherKindIsNamed) {
    lock(alice, 30'000);
    EXPECT_TRUE(is_error(read(ours(1)), "WRONGTYPE"));
    EXPECT_TRUE(is_error(write(ours(1), 30'000, {}, 5'000), "WRONGTYPE"));
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    server().command({"DEL", name_});
    server().command({"RPUSH", name_, "x"});
    EXPECT_TRUE(is_error(read(ours(1)), "WRONGTYPE"));
    EXPECT_TRUE(is_error(write(ours(1), 30'000, {}, 5'000), "WRONGTYPE"));
    EXPECT_THAT(end_read(ours(1)), ElementsAre(0, 0));
    EXPECT_THAT(end_write(ours(1)), ElementsAre(0, 0));
    EXPECT_THAT(renew_reads({ours(1)}, 30'000), ElementsAre(0));
    EXPECT_EQ(keys().size(), 1u);
}

TEST_P(SharedScripts, ALeaseThatNoKeyCanHaveTakesNothing) {
    constexpr std::int64_t too_long = 9'223'372'036'854'775'807;
    EXPECT_EQ(read(ours(1), too_long).type, redis::reply::kind::error);
    EXPECT_EQ(write(ours(1), too_long).type, redis::reply::kind::error);
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(SharedScripts, WithoutTheRightToDeleteMarksNoWriteHoldIsTaken) {
    deny("del");
    EXPECT_EQ(write(ours(1)).type, redis::reply::kind::error);
    EXPECT_THAT(keys(), IsEmpty());
    EXPECT_EQ(said(read(ours(1))), 1);
    EXPECT_EQ(write(ours(2), 30'000, ours(1)).type, redis::reply::kind::error);
    EXPECT_EQ(mode(), "read");
    EXPECT_EQ(count_of(ours(2) + ":write"), "");
    EXPECT_EQ(count_of(ours(1)), "1");
}

TEST_P(SharedScripts, AWriterThatWaitsKeepsNewReadersAway) {
    read(ours(1));
    EXPECT_EQ(said(write(ours(2))), 0);
    EXPECT_FALSE(is_marked()) << "it does not wait";
    EXPECT_EQ(said(write(ours(2), 30'000, {}, 5'000)), 0);
    EXPECT_THAT(integers_of(read(ours(3))), ElementsAre(0, AllOf(Gt(4'000), Le(5'000)), Gt(0)));
    EXPECT_EQ(said(read(ours(1))), 1) << "who reads already goes on";
    EXPECT_THAT(end_read(ours(1)), ElementsAre(1, 0));
    EXPECT_THAT(left_of(marks_), AllOf(Gt(0), Le(150))) << "its head start";
    EXPECT_EQ(said(read(ours(3))), 0);
    EXPECT_EQ(said(write(ours(2))), 1);
    EXPECT_FALSE(is_marked());
}

TEST_P(SharedScripts, AMarkOnAFreeLockIsCutToItsHeadStart) {
    read(ours(1));
    write(ours(2), 30'000, {}, 5'000);
    server().command({"DEL", name_}); // expired, or forced
    EXPECT_EQ(said(read(ours(3))), 0);
    EXPECT_LE(left_of(marks_), 150);
}

TEST_P(SharedScripts, WhoGivesUpTakesItsMarkAway) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", rw_channel_});
    read(ours(1));
    write(ours(2), 30'000, {}, 5'000);
    write(ours(3), 30'000, {}, 5'000);
    EXPECT_THAT(end_write(ours(2)), ElementsAre(0, 0));
    EXPECT_EQ(said(read(ours(4))), 0) << "another one waits";
    EXPECT_THAT(end_write(ours(3)), ElementsAre(0, 0));
    EXPECT_EQ(listener.next_message(duration{5'000})->items.at(2).text, "0");
    EXPECT_EQ(said(read(ours(4))), 1);
}

TEST_P(SharedScripts, ReadUnderAWriteHoldAndDowngrade) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", rw_channel_});
    write(ours(1), 60'000);
    EXPECT_EQ(said(read(ours(2), 30'000, ours(1) + ":write")), 1);
    EXPECT_EQ(mode(), "write");
    EXPECT_GT(time_left(), 54'000);
    EXPECT_EQ(said(read(ours(3))), 0);
    EXPECT_THAT(end_write(ours(1)), ElementsAre(1, 1));
    EXPECT_EQ(listener.next_message(duration{5'000})->items.at(2).text, "1")
        << "a downgrade is told";
    EXPECT_EQ(mode(), "read");
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(said(read(ours(3))), 1);
    EXPECT_EQ(said(read(ours(4), 30'000, ours(1) + ":write")), 4) << "that hold is gone";
}

TEST_P(SharedScripts, AReadHoldUnderAWriteHoldEndsAlone) {
    write(ours(1), 60'000);
    read(ours(2), 30'000, ours(1) + ":write");
    EXPECT_THAT(end_read(ours(2)), ElementsAre(1, 0));
    EXPECT_EQ(mode(), "write");
    EXPECT_GT(time_left(), 54'000) << "the write lease does not shrink";
    EXPECT_EQ(left_of(timer(ours(2))), -2);

    read(ours(2), 30'000, ours(1) + ":write");
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", rw_channel_});
    EXPECT_THAT(end_read(ours(2)), ElementsAre(1, 1)) << "who listens may wait for a turn";
}

TEST_P(SharedScripts, AnUpgradeStandsOnTheOnlyReadHold) {
    EXPECT_EQ(said(write(ours(9), 30'000, ours(1))), 4) << "there is none";
    read(ours(1), 60'000);
    read(jvm);
    EXPECT_EQ(said(write(ours(9), 30'000, ours(1), 5'000)), 0);
    EXPECT_THAT(end_read(jvm), ElementsAre(1, 0)) << "told, since a writer waits";
    EXPECT_EQ(said(write(ours(9), 30'000, ours(1), 5'000)), 1);
    EXPECT_EQ(mode(), "write");
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_GT(time_left(), 54'000) << "the read lease does not shrink";
    EXPECT_THAT(end_write(ours(9)), ElementsAre(1, 0));
    EXPECT_EQ(mode(), "read");
    EXPECT_THAT(end_read(ours(1)), ElementsAre(1, 0));
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(SharedScripts, TwoUpgradesMeet) {
    read(ours(1));
    read(ours(2));
    EXPECT_EQ(said(write(ours(3), 30'000, ours(1), 5'000)), 0);
    EXPECT_EQ(said(write(ours(4), 30'000, ours(2), 5'000)), 3);
    EXPECT_EQ(said(write(ours(3), 30'000, ours(1), 5'000)), 0) << "the first goes on waiting";
    end_read(ours(2));
    EXPECT_EQ(said(write(ours(3), 30'000, ours(1), 5'000)), 1);
}

TEST_P(SharedScripts, DeadReadersOfOursAreSweptByAWriter) {
    read(ours(1), 30'000);
    read(ours(2), 30'000);
    server().command({"DEL", timer(ours(1))}); // its lease is over, and another's was not
    EXPECT_EQ(said(write(ours(3))), 0);
    EXPECT_EQ(count_of(ours(1)), "");
    server().command({"DEL", timer(ours(2))});
    EXPECT_EQ(said(write(ours(3), 40'000)), 1);
    EXPECT_EQ(ask({"HLEN", name_}), 2);
    EXPECT_GT(time_left(), 34'000);
}

TEST_P(SharedScripts, AJvmsReaderWithoutATimerIsSweptOnlyWhereAJvmWouldDoIt) {
    server().command({"HSET", name_, "mode", "read", jvm, "1"});
    server().command({"PEXPIRE", name_, "30000"});
    EXPECT_EQ(said(write(ours(1))), 0);
    read(ours(2));
    EXPECT_THAT(end_read(ours(2)), ElementsAre(1, 0)) << "the last that has a timer";
    EXPECT_FALSE(exists());
}

TEST_P(SharedScripts, AReleaseLeavesTheOthersWhatTheyHave) {
    read(ours(1), 60'000);
    server().command({"HSET", name_, jvm, "2"}); // it has entered twice
    server().command({"SET", timer(jvm, 2), "1", "PX", "30000"});
    EXPECT_THAT(end_read(ours(1)), ElementsAre(1, 0));
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(left_of(timer(ours(1))), -2);
}

TEST_P(SharedScripts, AReleaseTellsWhetherOthersListen) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", rw_channel_});
    read(ours(1));
    read(ours(2));
    EXPECT_THAT(end_read(ours(1)), ElementsAre(1, 1)) << "and told nobody";
    EXPECT_THAT(end_read(ours(2)), ElementsAre(1, 1));
    EXPECT_EQ(listener.next_message(duration{5'000})->items.at(2).text, "0");
}

TEST_P(SharedScripts, RenewalLiftsTimerAndLock) {
    read(ours(1), 20'000);
    read(ours(2), 20'000);
    EXPECT_THAT(renew_reads({ours(1), ours(2), ours(3)}, 30'000),
                ElementsAre(Gt(14'000), Le(20'003), 0));
    EXPECT_THAT(left_of(timer(ours(1))), Gt(24'000));
    EXPECT_GT(time_left(), 24'000);
    EXPECT_THAT(renew_reads({ours(1)}, 1'000), ElementsAre(Gt(24'000)));
    EXPECT_GT(left_of(timer(ours(1))), 24'000) << "never shortened";
}

TEST_P(SharedScripts, AskingLiftsALockThatAJvmHasCut) {
    read(ours(1), 60'000);
    server().command({"PEXPIRE", name_, "3000"});
    EXPECT_THAT(renew_reads({ours(1)}, 0), ElementsAre(AllOf(Gt(2'000), Le(3'003))))
        << "so much it had left";
    EXPECT_GT(time_left(), 54'000);
    EXPECT_GT(left_of(timer(ours(1))), 54'000);
}

TEST_P(SharedScripts, AReadLeaseThatIsOverIsNoHoldAlthoughOthersKeepTheLock) {
    read(ours(1));
    read(ours(2));
    server().command({"DEL", timer(ours(1))});
    EXPECT_THAT(renew_reads({ours(1), ours(2)}, 0), ElementsAre(0, Gt(3)));
    EXPECT_THAT(renew_reads({ours(1)}, 30'000), ElementsAre(3)) << "nobody was let in meanwhile";
    EXPECT_GT(left_of(timer(ours(1))), 24'000);
}

TEST_P(SharedScripts, GrantTellsHowLongOthersKeepTheLock) {
    EXPECT_THAT(integers_of(read(ours(1), 60'000)), ElementsAre(1, -2, Gt(0)));
    server().command({"PEXPIRE", name_, "3000"});
    EXPECT_THAT(integers_of(read(ours(2), 60'000)),
                ElementsAre(1, AllOf(Gt(2'000), Le(3'000)), Gt(0)));
}

TEST_P(SharedScripts, WriterThatLooksOftenDoesNotShortenAnothersMark) {
    read(ours(1));
    EXPECT_EQ(said(write(ours(2), 30'000, {}, 10'000)), 0);
    EXPECT_EQ(said(write(ours(3), 30'000, {}, 100)), 0);
    EXPECT_GT(left_of(marks_), 9'000);
}

TEST_P(SharedScripts, WriteHoldsAreRenewedWithThePlainOnes) {
    write(ours(1), 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {ours(1) + ":write"})), ElementsAre(1));
    EXPECT_GT(time_left(), 24'000);
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {ours(2) + ":write"})), ElementsAre(0));
}

TEST_P(SharedScripts, EachSideIsForcedInItsOwnMode) {
    const auto force_mode = [this](const std::string& of) {
        return integers_of(run(redis::scripts::force_lock, {name_},
                               {"0", "", "PUBLISH", channel_, rw_channel_, "Q", "Z", of}))
            .at(0);
    };
    read(ours(1));
    EXPECT_EQ(force_mode("write"), 3);
    EXPECT_EQ(force_mode("read"), 1);
    write(ours(2));
    EXPECT_EQ(force_mode("read"), 3);
    EXPECT_EQ(force_mode("write"), 1);
    EXPECT_EQ(force_mode("write"), 0);
    lock(alice, 30'000);
    for (const char* const side : {"read", "write"})
        EXPECT_TRUE(is_error(run(redis::scripts::force_lock, {name_},
                                 {"0", "", "PUBLISH", channel_, rw_channel_, "Q", "Z", side}),
                             "WRONGTYPE"));
    EXPECT_EQ(force_mode(""), 1);
}

} // namespace
} // namespace holdfast
