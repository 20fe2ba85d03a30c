// SPDX-License-Identifier: Apache-2.0
// Redisson's count-down latches and ours: state, messages, and who opens for whom.
#include "interop/counter_meeting.hpp"

#include <array>
#include <atomic>
#include <future>

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
