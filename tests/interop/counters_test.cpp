// SPDX-License-Identifier: Apache-2.0
// Redisson's semaphores and count-down latches together with those of holdfast.
#include "interop/counter_meeting.hpp"

#include <array>
#include <atomic>
#include <future>
#include <random>

namespace holdfast::interop {
namespace {

// Semaphores of Redisson and of holdfast: stored state, messages, and notifications.

using testing::ElementsAre;
using testing::IsEmpty;

class Semaphore : public counter_meeting {
protected:
    remote_semaphore of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_semaphore{first().thread(actor), name};
    }
    remote_semaphore of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_semaphore{second().thread(actor), name};
    }
    ongoing waiting(remote_semaphore& for_some, int permits = 1, const std::string& name = "L") {
        return parked([&] { return for_some.begin_acquire(permits); }, name);
    }

    /// A JVM before 3.16.2 tells of no additions; and later ones tell of a number below zero, too.
    bool tells_of_additions() {
        return !first().is_jvm() || is_at_least(GetParam().redisson, 3, 17);
    }

    static std::string message(int permits) { return "redisson_sc:{L} " + std::to_string(permits); }
};
HOLDFAST_BOTH_WAYS_AT(Semaphore, "getSemaphore");

TEST_P(Semaphore, ItsPermitsAreAStringAndEachSideCountsTheSame) {
    remote_semaphore alice = of_first(), bob = of_second();
    EXPECT_EQ(bob.available_permits(), 0);
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_TRUE(alice.try_set_permits(5));
    expect_number(5);
    EXPECT_FALSE(alice.try_set_permits(7));
    EXPECT_FALSE(bob.try_set_permits(7));
    alice.acquire(2);
    expect_number(3);
    bob.acquire();
    expect_number(2);
    for (remote_semaphore* each : {&alice, &bob}) {
        EXPECT_EQ(each->available_permits(), 2);
        EXPECT_FALSE(each->try_acquire(3));
        EXPECT_FALSE(each->try_acquire_for(5ms, 3));
        EXPECT_TRUE(each->try_acquire(0));
        each->release(0);
    }
    expect_number(2);
    EXPECT_TRUE(bob.try_acquire(2));
    expect_number(0);
    bob.release(); // what another took: nobody owns a permit
    alice.release(3);
    expect_number(4);
    EXPECT_EQ(memories_of_requests(server(), "L"), 1u);
    EXPECT_EQ(bob.drain_permits(), 4);
    EXPECT_EQ(alice.drain_permits(), 0);
    expect_number(0);
    EXPECT_TRUE(alice.erase());
    EXPECT_FALSE(bob.erase());
    expect_nothing();
}

TEST_P(Semaphore, WhatIsToldIsHowManyThereAre) {
    remote_semaphore alice = of_first(), bob = of_second();
    transcript seen{server().socket_path()};
    EXPECT_TRUE(alice.try_set_permits(5));
    EXPECT_TRUE(bob.try_acquire(3));
    alice.release(2);
    alice.release();
    EXPECT_EQ(bob.drain_permits(), 5);
    EXPECT_THAT(told(seen), ElementsAre(message(5), message(4), message(5)));
    EXPECT_TRUE(bob.erase());
    alice.release(2); // which makes it
    expect_number(2);
    EXPECT_EQ(told(seen).back(), message(2));
}

TEST_P(Semaphore, PermitsAreAddedAndTakenAwayByBoth) {
    remote_semaphore alice = of_first(), bob = of_second();
    transcript seen{server().socket_path()};
    alice.add_permits(10);
    EXPECT_EQ(bob.available_permits(), 10);
    bob.acquire(4);
    alice.add_permits(-8);
    EXPECT_EQ(alice.available_permits(), -2);
    EXPECT_EQ(bob.available_permits(), -2);
    EXPECT_FALSE(bob.try_acquire());
    expect_number(-2);
    std::vector<std::string> expected;
    if (tells_of_additions())
        expected.push_back(message(10));
    if (first().is_jvm() && tells_of_additions())
        expected.push_back(message(-2)); // at which other JVMs stumble: ours are silent
    EXPECT_EQ(told(seen), expected);
    bob.release(4);
    alice.add_permits(1);
    EXPECT_EQ(bob.available_permits(), 3);
    EXPECT_EQ(alice.drain_permits(), 3);
    expect_number(0);
}

TEST_P(Semaphore, ReleasedIfItExists) {
    remote_semaphore alice = of_first();
    if (first().is_jvm() && !is_at_least(GetParam().redisson, 4, 0))
        return; // it cannot
    EXPECT_FALSE(alice.release_if_exists(2));
    expect_nothing();
    EXPECT_TRUE(of_second().try_set_permits(1));
    ongoing served = waiting(alice, 3);
    EXPECT_TRUE(of_first("anne").release_if_exists(2));
    (void)soon(std::move(served.answer));
    expect_number(0);
}

// Redisson's `addPermits` and `drainPermits` remove the expiry; those of holdfast keep it.
TEST_P(Semaphore, ItsEndStays) {
    remote_semaphore by_ours{ours().thread("alice")}, by_jvm{jvm().thread("bob")};
    const bool can_jvm = is_at_least(GetParam().redisson, 3, 29);
    EXPECT_TRUE((can_jvm ? of_first() : by_ours).try_set_permits(5, 60s));
    by_jvm.acquire(3);
    by_jvm.release(2);
    by_ours.acquire();
    by_ours.release();
    by_ours.add_permits(3);
    EXPECT_EQ(by_ours.drain_permits(), 7);
    by_ours.release(2);
    EXPECT_EQ(by_jvm.available_permits(), 2);
    const duration left = state_of(server()).at("L").left.value();
    EXPECT_LE(left, 60s);
    EXPECT_GT(left, 10s);
}

TEST_P(Semaphore, NobodyHasMoreThanAJvmCanCount) {
    constexpr int most = 2'147'483'647;
    remote_semaphore by_ours{ours().thread("alice")}, by_jvm{jvm().thread("bob")};
    EXPECT_TRUE(of_first().try_set_permits(most));
    EXPECT_EQ(by_ours.available_permits(), most);
    EXPECT_EQ(by_jvm.available_permits(), most);
    EXPECT_THROW(by_ours.release(), peer_failure);
    expect_number(most);
    by_jvm.acquire(most);
    by_ours.release(most);
    EXPECT_EQ(by_jvm.drain_permits(), most);
    expect_number(0);
}

TEST_P(Semaphore, AReleaseOrAFirstSettingServesTheOthersWaiter) {
    remote_semaphore alice = of_first(), bob = of_second();
    ongoing served = waiting(bob);
    alice.release();
    (void)soon(std::move(served.answer));
    expect_number(0);
    EXPECT_TRUE(alice.erase());
    served = waiting(bob);
    EXPECT_TRUE(alice.try_set_permits(3));
    (void)soon(std::move(served.answer));
    expect_number(2);
}

TEST_P(Semaphore, WhoeverWantsManyIsServedWhenTheyAreThere) {
    remote_semaphore alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(2));
    ongoing served = waiting(bob, 5);
    alice.release();
    EXPECT_EQ(of_second("carol").available_permits(), 3);
    EXPECT_FALSE(support::is_ready(served.answer));
    alice.add_permits(1);
    alice.release(2);
    (void)soon(std::move(served.answer));
    expect_number(1);
}

TEST_P(Semaphore, AnAdditionServesTheOthersWaiter) {
    if (!tells_of_additions())
        return; // who waits there learns of it by the next release
    remote_semaphore bob = of_second();
    ongoing served = waiting(bob, 2);
    of_first().add_permits(3);
    (void)soon(std::move(served.answer));
    expect_number(1);
}

TEST_P(Semaphore, OneReleaseServesSeveralOfTheOthers) {
    std::vector<remote_semaphore> crowd;
    std::vector<ongoing> all;
    for (const char* actor : {"bob", "carol", "dave"})
        crowd.push_back(of_second(actor));
    all.push_back(waiting(crowd[0]));
    for (std::size_t i = 1; i < crowd.size(); ++i)
        all.push_back(crowd[i].begin_acquire());
    of_first().release(4);
    for (ongoing& each : all)
        (void)soon(std::move(each.answer));
    expect_number(1);
}

// Only ours wait asynchronously: of a JVM's nobody can see when it listens (class Latch).
TEST_P(Semaphore, WhoWaitsAsynchronouslyOrForATimeIsServedToo) {
    remote_semaphore bob = of_second(), carol = of_second("carol", "another");
    ongoing later = parked(
        [&] { return second().is_jvm() ? bob.begin_acquire(2) : bob.begin_acquire_async(2); });
    ongoing timed = parked([&] { return carol.begin_try_acquire_for(10min, 2); }, "another");
    of_first().release(2);
    of_first("alice", "another").release(3);
    (void)soon(std::move(later.answer));
    EXPECT_TRUE(soon(std::move(timed.answer)).as_bool());
    EXPECT_EQ(state_of(server()).at("L").value, "0");
    EXPECT_EQ(state_of(server()).at("another").value, "1");
}

TEST_P(Semaphore, LessThanNoneHarmsNobodyWhoWaits) {
    remote_semaphore alice = of_first(), bob = of_second();
    ongoing served = waiting(bob);
    alice.add_permits(-5);
    expect_number(-5);
    alice.release(3);
    alice.release(4);
    (void)soon(std::move(served.answer));
    expect_number(1);
}

TEST_P(Semaphore, WhoWaitsOutlivesItAndDrawsFromTheNextOne) {
    remote_semaphore alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    ongoing served = waiting(bob, 2);
    EXPECT_TRUE(alice.erase());
    EXPECT_FALSE(support::is_ready(served.answer));
    EXPECT_TRUE(alice.try_set_permits(4));
    (void)soon(std::move(served.answer));
    expect_number(2);
}

TEST_P(Semaphore, AWaitOfOursThatIsCalledOffTakesNothing) {
    remote_semaphore given_up{ours().thread("gives up")}, by_jvm{jvm().thread("bob")};
    ongoing never = parked([&] { return given_up.begin_acquire_async(); });
    ongoing served = waiting(by_jvm);
    EXPECT_TRUE(given_up.cancel(never));
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    by_jvm = remote_semaphore{jvm().thread("carol")};
    by_jvm.release(2);
    (void)soon(std::move(served.answer));
    expect_number(1);
}

TEST_P(Semaphore, AKilledWaiterOfOursHarmsNobody) {
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_semaphore last{gone->thread("last")}, bob = of_second();
    ongoing never = waiting(last), served = waiting(bob);
    doomed->kill();
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    of_first().release(2);
    (void)soon(std::move(served.answer));
    expect_number(1);
}

TEST_P(Semaphore, AnyNameIsTheSameSemaphoreAndChannel) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "quoted \"name\"", "k\xc3\xbchl", "*"}) {
        SCOPED_TRACE(name);
        remote_semaphore alice = of_first("alice", name), bob = of_second("bob", name);
        ongoing served = waiting(bob, 1, name);
        alice.release();
        (void)soon(std::move(served.answer));
        EXPECT_TRUE(bob.erase());
    }
    expect_nothing();
}

// Threads of a JVM and of ours draw from one semaphore: were there ever more permits out than there
// are, and are all of them there at the end?

constexpr int capacity = 3;

/// What the visitors know to be out: each from the answer on, until it gives back. So there may be
/// more than this at times, and never fewer.
class room {
public:
    void enter(int count) {
        const int now = inside_ += count;
        int known = most_;
        while (known < now && !most_.compare_exchange_weak(known, now)) {
        }
        ++visits_;
    }
    void leave(int count) { inside_ -= count; }

    int most() const { return most_; }
    int visits() const { return visits_; }

private:
    std::atomic<int> inside_ = 0, most_ = 0, visits_ = 0;
};

class SemaphoreCrowd : public counter_meeting {
protected:
    static constexpr int rounds = 40;

    /// Takes one or two, in all ways, and gives them back in one or two.
    static void visit(room& inside, remote_semaphore gate, unsigned seed) {
        std::minstd_rand random{seed};
        for (int round = 0; round < rounds; ++round) {
            const int count = 1 + static_cast<int>(random() % 2);
            const unsigned way = random() % 4;
            if (way == 0 && !gate.try_acquire_for(10ms, count))
                continue;
            if (way == 1 && !gate.try_acquire(count))
                continue;
            if (way > 1)
                gate.acquire(count);
            inside.enter(count);
            const std::int64_t left = gate.available_permits(); // which takes a while
            EXPECT_GE(left, 0);
            EXPECT_LE(left, capacity - count);
            inside.leave(count);
            if (way == 3)
                for (int one = 0; one < count; ++one)
                    gate.release();
            else
                gate.release(count);
        }
    }

    /// Returns when all have been there as often as they wanted.
    void have_visitors(room& inside, int of_each_side) {
        std::vector<std::future<void>> all;
        for (int number = 1; number <= of_each_side; ++number)
            for (remote_client* side : {&jvm(), &ours()}) {
                const unsigned seed = static_cast<unsigned>(2 * number + (side->is_jvm() ? 1 : 0));
                const remote_thread visitor = side->thread("visitor " + std::to_string(number));
                all.push_back(std::async(std::launch::async, visit, std::ref(inside),
                                         remote_semaphore{visitor}, seed));
            }
        for (std::future<void>& each : all)
            each.get();
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, SemaphoreCrowd, testing::ValuesIn(one_way_at({"getSemaphore"})),
                         name_of);

TEST_P(SemaphoreCrowd, NobodyDrawsWhatIsNotThereAndAllComesBack) {
    remote_semaphore by_ours{ours().thread("keeper")}, by_jvm{jvm().thread("keeper")};
    ASSERT_TRUE(by_jvm.try_set_permits(capacity));
    room inside;
    have_visitors(inside, 4);
    EXPECT_LE(inside.most(), capacity);
    EXPECT_GT(inside.most(), 2) << "they never met";
    EXPECT_GT(inside.visits(), 2 * rounds);
    // If a poll took permits for a caller that had been served in the meantime, the client gives
    // them back in the background.
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == capacity; }));
    EXPECT_EQ(by_ours.drain_permits(), capacity);
    expect_number(0);
    EXPECT_EQ(memories_of_requests(server(), "L"), 1u);
}

TEST_P(SemaphoreCrowd, AProcessOfOursThatIsKilledWhileItWaitsTakesNothingAlong) {
    remote_semaphore by_ours{ours().thread("keeper")}, by_jvm{jvm().thread("keeper")};
    ASSERT_TRUE(by_ours.try_set_permits(capacity));
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_semaphore greedy{gone->thread("greedy")};
    ongoing never = parked([&] { return greedy.begin_acquire(capacity + 1); });
    room inside;
    std::future<void> crowd = std::async(std::launch::async, [&] { have_visitors(inside, 2); });
    EXPECT_TRUE(eventually([&] { return inside.visits() > rounds; }));
    doomed->kill(); // it asks at each message, so it may be asking now
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    crowd.get();
    EXPECT_LE(inside.most(), capacity);
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == capacity; }));
    EXPECT_EQ(by_jvm.drain_permits(), capacity);
    EXPECT_EQ(by_ours.available_permits(), 0);
    expect_number(0);
}

// Count-down latches of Redisson and of holdfast: stored state, messages, and which side opens the
// latch for the other.

constexpr const char* opened = "redisson_countdownlatch__channel__{L} 0";
constexpr const char* shut = "redisson_countdownlatch__channel__{L} 1";

class Latch : public counter_meeting {
protected:
    remote_latch of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_latch{first().thread(actor), name};
    }
    remote_latch of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_latch{second().thread(actor), name};
    }
    ongoing waiting(remote_latch& latch, const std::string& name = "L") {
        return parked([&] { return latch.begin_wait(); }, name);
    }
};
HOLDFAST_BOTH_WAYS_AT(Latch, "getCountDownLatch");

// A JVM opens its gate at `0` and shuts it at `1`, which its own `delete()` tells: nobody who waits
// there in a JVM looks after that. So ours tell `0`.
TEST_P(Latch, WhoeverWaitsIsLetThroughWhenOursEraseIt) {
    remote_latch by_jvm{jvm().thread("anne")}, ours_too{ours().thread("bob")};
    remote_latch erasing{ours().thread("carol")};
    ASSERT_TRUE(of_first().try_set_count(3));
    ongoing in_jvm = waiting(by_jvm), in_ours = waiting(ours_too);
    transcript seen{server().socket_path()};
    EXPECT_TRUE(erasing.erase());
    (void)soon(std::move(in_jvm.answer));
    (void)soon(std::move(in_ours.answer));
    EXPECT_THAT(told(seen), ElementsAre(opened));
    EXPECT_FALSE(erasing.erase());
    expect_nothing();
}

TEST_P(Latch, OursAreLetThroughWhenAJvmErasesItAndItsOwnAreNot) {
    remote_latch by_jvm{jvm().thread("anne")}, ours_too{ours().thread("bob")};
    remote_latch erasing{jvm().thread("carol")};
    ASSERT_TRUE(of_first().try_set_count(3));
    ongoing in_jvm = waiting(by_jvm), in_ours = waiting(ours_too);
    transcript seen{server().socket_path()};
    EXPECT_TRUE(erasing.erase());
    (void)soon(std::move(in_ours.answer));
    EXPECT_FALSE(support::is_ready(in_jvm.answer));
    EXPECT_THAT(told(seen), ElementsAre(shut));
    expect_nothing();
    server().command({"PUBLISH", "redisson_countdownlatch__channel__{L}", "0"});
    (void)soon(std::move(in_jvm.answer));
}

TEST_P(Latch, ItsCountIsAStringAndEachSideCountsTheSame) {
    remote_latch alice = of_first(), bob = of_second();
    transcript seen{server().socket_path()};
    EXPECT_EQ(bob.count(), 0);
    EXPECT_TRUE(alice.try_set_count(3));
    expect_number(3);
    EXPECT_FALSE(bob.try_set_count(7));
    EXPECT_FALSE(alice.try_set_count(7));
    EXPECT_EQ(alice.count(), 3);
    EXPECT_EQ(bob.count(), 3);
    bob.count_down();
    expect_number(2);
    alice.count_down();
    expect_number(1);
    EXPECT_EQ(bob.count(), 1);
    EXPECT_FALSE(alice.wait_for(5ms));
    EXPECT_FALSE(bob.wait_for(5ms));
    EXPECT_THAT(told(seen), ElementsAre(shut));
    alice.count_down();
    expect_nothing();
    EXPECT_EQ(alice.count(), 0);
    EXPECT_EQ(bob.count(), 0);
    EXPECT_THAT(told(seen), ElementsAre(shut, opened));
    EXPECT_EQ(memories_of_requests(server(), "L"), 1u);
}

TEST_P(Latch, OneThatIsOpenIsOpenToBothAndStaysSo) {
    remote_latch alice = of_first(), bob = of_second();
    for (remote_latch* each : {&alice, &bob}) {
        each->wait();
        EXPECT_TRUE(each->wait_for(5ms));
    }
    transcript seen{server().socket_path()};
    alice.count_down(); // what is not there is not counted down
    EXPECT_FALSE(alice.erase());
    expect_nothing();
    EXPECT_THAT(told(seen), IsEmpty());
    EXPECT_TRUE(bob.try_set_count(1));
    EXPECT_FALSE(alice.wait_for(5ms));
    alice.count_down();
    bob.wait();
    EXPECT_TRUE(alice.try_set_count(2)); // anew
    EXPECT_EQ(bob.count(), 2);
    EXPECT_TRUE(alice.erase());
    expect_nothing();
}

TEST_P(Latch, CountedDownByOneSideItLetsAllOfTheOtherThrough) {
    ASSERT_TRUE(of_second().try_set_count(2));
    std::vector<remote_latch> crowd;
    std::vector<ongoing> all;
    for (const char* actor : {"bob", "carol", "dave"})
        crowd.push_back(of_second(actor));
    all.push_back(waiting(crowd[0]));
    for (std::size_t i = 1; i < crowd.size(); ++i)
        all.push_back(crowd[i].begin_wait());
    of_first().count_down();
    for (ongoing& each : all)
        EXPECT_FALSE(support::is_ready(each.answer));
    of_first().count_down();
    for (ongoing& each : all)
        (void)soon(std::move(each.answer));
    expect_nothing();
}

TEST_P(Latch, BothSidesWaitForWhatBothCountDown) {
    remote_latch alice = of_first(), bob = of_second();
    ASSERT_TRUE(alice.try_set_count(2));
    ongoing one = waiting(alice), other = waiting(bob);
    of_first("anne").count_down();
    of_second("carol").count_down();
    (void)soon(std::move(one.answer));
    (void)soon(std::move(other.answer));
    expect_nothing();
}

// An asynchronous waiter of a JVM gets its listener only after its last question was answered, and
// 3.13.6 does not look at its latch again: it can miss what is told between, and hang. So only ours
// wait like that here.
TEST_P(Latch, WhoWaitsAsynchronouslyOrForATimeIsWokenToo) {
    remote_latch bob = of_second(), carol = of_second("carol", "another");
    ASSERT_TRUE(of_first().try_set_count(1));
    ASSERT_TRUE(of_first("alice", "another").try_set_count(1));
    ongoing later =
        parked([&] { return second().is_jvm() ? bob.begin_wait() : bob.begin_wait_async(); });
    ongoing timed = parked([&] { return carol.begin_wait_for(10min); }, "another");
    of_first().count_down();
    of_first("alice", "another").count_down();
    (void)soon(std::move(later.answer));
    EXPECT_TRUE(soon(std::move(timed.answer)).as_bool());
}

// A latch that has opened shuts again for those in a JVM that come after it was set anew.
TEST_P(Latch, SetAnewByOneSideItIsShutForTheOther) {
    remote_latch alice = of_first(), bob = of_second();
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(alice.try_set_count(1));
        EXPECT_FALSE(bob.wait_for(5ms));
        ongoing through = waiting(bob);
        alice.count_down();
        (void)soon(std::move(through.answer));
    }
}

TEST_P(Latch, AKilledWaiterOfOursHarmsNobody) {
    ASSERT_TRUE(of_first().try_set_count(1));
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_latch last{gone->thread("last")}, bob = of_second();
    ongoing never = waiting(last), through = waiting(bob);
    doomed->kill();
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    of_first().count_down();
    (void)soon(std::move(through.answer));
    expect_nothing();
}

TEST_P(Latch, AnyNameIsTheSameLatchAndChannel) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "quoted \"name\"", "k\xc3\xbchl", "*"}) {
        SCOPED_TRACE(name);
        remote_latch alice = of_first("alice", name), bob = of_second("bob", name);
        ASSERT_TRUE(alice.try_set_count(1));
        ongoing through = waiting(bob, name);
        alice.count_down();
        (void)soon(std::move(through.answer));
    }
    expect_nothing();
}

// Threads of a JVM and of ours meet at one latch after the other: is nobody let through before all
// have come, and everybody then?

class LatchCrowd : public counter_meeting {
protected:
    static constexpr int of_each_side = 4;
    static constexpr std::size_t rounds = 15;

    static remote_latch latch_of(const remote_thread& by, std::size_t round) {
        return remote_latch{by, "round " + std::to_string(round)};
    }

    void come(const remote_thread& visitor) {
        for (std::size_t round = 0; round < rounds; ++round) {
            remote_latch latch = latch_of(visitor, round);
            ++came_[round];
            latch.count_down();
            latch.wait();
            EXPECT_EQ(came_[round], 2 * of_each_side) << "let through early";
        }
    }

private:
    std::array<std::atomic<int>, rounds> came_{};
};
INSTANTIATE_TEST_SUITE_P(Redisson, LatchCrowd, testing::ValuesIn(one_way_at({"getCountDownLatch"})),
                         name_of);

TEST_P(LatchCrowd, NobodyIsLetThroughBeforeAllHaveCome) {
    for (std::size_t round = 0; round < rounds; ++round) {
        remote_client& setter = round % 2 == 0 ? jvm() : ours();
        ASSERT_TRUE(latch_of(setter.thread("setter"), round).try_set_count(2 * of_each_side));
    }
    std::vector<std::future<void>> all;
    for (int number = 1; number <= of_each_side; ++number)
        for (remote_client* side : {&jvm(), &ours()}) {
            const remote_thread visitor = side->thread("visitor " + std::to_string(number));
            all.push_back(std::async(std::launch::async, [this, visitor] { come(visitor); }));
        }
    for (std::future<void>& each : all)
        each.get();
    expect_nothing();
}

} // namespace
} // namespace holdfast::interop
