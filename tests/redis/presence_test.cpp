// SPDX-License-Identifier: Apache-2.0
// When a client writes the list of its holds and waits, and how a reader uses these lists.
#include "store/redis/client_info.hpp"
#include "store/redis/inspector.hpp"
#include "store_fixture.hpp"

#include <algorithm>
#include <memory>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ListOfActivity : public on_scripted_node {
protected:
    ListOfActivity() {
        context_.lease_time = 30s;
        context_.activity = [this](time_point began_by, activity_limits limits) {
            client_activity old = now_;
            std::erase_if(old.holds, [&](const auto& each) { return each.since > began_by; });
            std::erase_if(old.waits, [&](const auto& each) { return each.since > began_by; });
            old.holds_total = old.holds.size();
            old.waits_total = old.waits.size();
            const auto has_long_name = [&](const auto& each) {
                return each.name.size() > limits.name_size;
            };
            std::erase_if(old.holds, has_long_name);
            std::erase_if(old.waits, has_long_name);
            return old;
        };
        node_.decide = [](const scripted_node::request&) {
            reply done;
            done.type = reply::kind::status;
            done.text = "OK";
            return std::optional{scripted_node::outcome{.answer = done}};
        };
        presence_ = std::make_shared<presence_refresh>(node_, context_);
    }
    ~ListOfActivity() override {
        presence_->stop();
        clock_.run_until_idle();
    }

    void begin_hold(std::uint64_t number = 1) {
        now_.idle = false;
        now_.holds.push_back({"L", lock_kind::plain, number, clock_.now(), true});
    }
    void end_holds() {
        now_.holds.clear();
        now_.idle = true;
    }
    std::size_t writes() const { return node_.asked.size(); }
    const std::vector<std::string>& last_words() const { return node_.asked.back().words; }

    client_activity now_{};
    std::shared_ptr<presence_refresh> presence_;
};

TEST_F(ListOfActivity, HoldsOfLessThanASecondCauseOnlyTheFirstWrite) {
    for (int i = 0; i < 15; ++i) {
        begin_hold();
        presence_->refresh(30s, clock_.now());
        clock_.run_for(900ms);
        end_holds();
        clock_.run_for(100ms);
    }
    EXPECT_EQ(writes(), 1u);
}

TEST_F(ListOfActivity, ALongHoldIsWrittenWhenItIsASecondOldAndWhenItEnds) {
    begin_hold();
    presence_->refresh(30s, clock_.now());
    clock_.run_for(999ms);
    ASSERT_EQ(writes(), 1u);
    EXPECT_THAT(last_words(), Not(Contains("L")));
    clock_.run_for(1s);
    ASSERT_EQ(writes(), 2u);
    EXPECT_THAT(last_words(), Contains("L"));
    EXPECT_THAT(last_words(), Contains("holdfast_clients"));
    clock_.run_for(10s);
    EXPECT_EQ(writes(), 2u) << "the list has not changed";
    end_holds();
    clock_.run_for(1s);
    ASSERT_EQ(writes(), 3u);
    EXPECT_THAT(last_words(), Not(Contains("L")));
    EXPECT_THAT(last_words(), Contains("holdfast_clients")) << "the entry is removed";
    clock_.run_for(1h);
    EXPECT_EQ(writes(), 3u) << "an idle client writes nothing";
}

TEST_F(ListOfActivity, ChangesAreWrittenAtMostOnceASecond) {
    presence_->follow();
    for (std::uint64_t i = 0; i < 100; ++i) {
        begin_hold(i);
        clock_.run_for(100ms);
    }
    EXPECT_LE(writes(), 10u);
    EXPECT_GE(writes(), 8u);
}

TEST_F(ListOfActivity, AClientThatOnlyWaitsWritesItsKeyAgainBeforeItExpires) {
    now_.idle = false;
    now_.waits.push_back({"L", lock_kind::plain, clock_.now(), time_point::max()});
    presence_->follow();
    clock_.run_for(2s);
    ASSERT_EQ(writes(), 1u);
    EXPECT_EQ(last_words().front(), "60000");
    clock_.run_for(60s);
    EXPECT_EQ(writes(), 7u);
}

TEST_F(ListOfActivity, AClientWithWaitsWritesItsKeyAgainEveryTenSeconds) {
    now_.idle = false;
    begin_hold();
    clock_.run_for(2s);
    presence_->follow();
    clock_.run_for(60s);
    const std::size_t with_hold = writes();
    EXPECT_EQ(with_hold, 3u) << "every 20 s";
    now_.waits.push_back({"L", lock_kind::plain, clock_.now(), time_point::max()});
    clock_.run_for(61s);
    EXPECT_EQ(writes(), with_hold + 7u);
}

TEST_F(ListOfActivity, AWriteThatTheServerExecutesLateIsRepeatedOnce) {
    const auto answer_after = [this](duration takes) {
        node_.decide = [takes](const scripted_node::request&) {
            reply done;
            done.type = reply::kind::status;
            return std::optional{scripted_node::outcome{.answer = done, .takes = takes}};
        };
    };
    answer_after(2800ms);
    begin_hold();
    presence_->follow();
    clock_.run_for(2s);
    ASSERT_EQ(writes(), 1u);
    answer_after(400ms);
    clock_.run_for(10s);
    ASSERT_EQ(writes(), 2u) << "the second write is late too, and is not repeated";
    EXPECT_EQ(last_words().at(15), "4000") << "age of the hold";
}

TEST_F(ListOfActivity, AFailedWriteIsRepeatedASecondLater) {
    node_.decide = nullptr;
    node_.will_fail(make_error_code(errc::unreachable));
    begin_hold();
    presence_->follow();
    clock_.run_for(1s);
    ASSERT_EQ(writes(), 1u);
    node_.decide = [](const scripted_node::request&) {
        reply done;
        done.type = reply::kind::status;
        return std::optional{scripted_node::outcome{.answer = done}};
    };
    clock_.run_for(10s);
    EXPECT_EQ(writes(), 2u);
}

TEST_F(ListOfActivity, AFailedWriteOfAnEndedHoldIsRepeatedAFewTimes) {
    begin_hold();
    presence_->refresh(30s, clock_.now());
    clock_.run_for(3s);
    ASSERT_EQ(writes(), 2u);
    end_holds();
    node_.decide = [](const scripted_node::request&) {
        return std::optional{
            scripted_node::outcome{.failure = make_error_code(errc::unreachable), .takes = 3s}};
    };
    clock_.run_for(1h);
    EXPECT_EQ(writes(), 2u + 10u) << "an idle client does not write for ever";
    EXPECT_THAT(last_words(), Contains("holdfast_clients")) << "the entry may still be there";
}

TEST_F(ListOfActivity, LocksWithLongNamesAreLeftOut) {
    begin_hold(1);
    begin_hold(2);
    begin_hold(3);
    now_.holds[0].name = std::string(513, 'a');
    now_.holds[1].name = std::string(512, 'b');
    now_.waits.push_back({std::string(1 << 20, 'c'), lock_kind::plain, clock_.now(), {}});
    presence_->follow();
    clock_.run_for(1s);
    ASSERT_EQ(writes(), 1u);
    EXPECT_THAT(last_words(), Not(Contains(now_.holds[0].name)));
    EXPECT_THAT(last_words(), Contains(now_.holds[1].name));
    EXPECT_THAT(last_words(), Contains("L"));
    EXPECT_THAT(last_words(), Not(Contains(now_.waits[0].name)));
}

TEST_F(ListOfActivity, NamesThatAreLongInTotalShortenTheList) {
    now_.idle = false;
    for (int i = 0; i < 100; ++i)
        now_.holds.push_back({std::string(500, 'a'), lock_kind::plain, 1, clock_.now(), true});
    presence_->follow();
    clock_.run_for(1s);
    ASSERT_EQ(writes(), 1u);
    EXPECT_EQ(std::ranges::count(last_words(), std::string(500, 'a')), 20);
    EXPECT_THAT(last_words(), Contains("100")) << "the number of all holds";
}

TEST_F(ListOfActivity, HasAtMostTheHundredOldestOfEach) {
    presence_->stop();
    std::size_t limit = 0;
    context_.activity = [&](time_point, activity_limits limits) {
        limit = limits.entries;
        return now_;
    };
    presence_ = std::make_shared<presence_refresh>(node_, context_);
    presence_->follow();
    clock_.run_for(1s);
    EXPECT_EQ(limit, 100u);
}

TEST_F(ListOfActivity, IsNotWrittenAfterTheEnd) {
    begin_hold();
    presence_->refresh(30s, clock_.now());
    complete(presence_->end());
    const std::size_t before = writes();
    EXPECT_EQ(last_words().front(), "0") << "the key was deleted";
    clock_.run_for(10s);
    EXPECT_EQ(writes(), before);
}

// The lists that clients wrote, added to the states of locks.

const std::string uuid = "8743c9c0-0795-8fd5-87fd-6c719a6b4586";

lock_state lock_of(const std::string& owner) {
    lock_state made{.name = "L"};
    made.owners.push_back({.text = owner, .is_holdfast = true});
    return made;
}

TEST(AddedActivity, TellsSinceWhenAnOwnerHasTheLock) {
    std::vector<lock_state> locks{lock_of(uuid + ":7"), lock_of(uuid + ":7:write")};
    locks[1].name = "W";
    add_activity(locks, {{.uuid = uuid,
                          .holds = {{"L", "plain", "7", 1'000ms, 5s},
                                    {"L", "plain", "8", 1'000ms, 9s},
                                    {"W", "write", "7", std::nullopt, 6s},
                                    {"other", "plain", "7", 1'000ms, 5s}}}});
    EXPECT_EQ(locks[0].owners[0].held_for, 5s);
    EXPECT_EQ(locks[0].owners[0].held_since, 1'000ms);
    EXPECT_EQ(locks[1].owners[0].held_for, 6s);
    EXPECT_FALSE(locks[1].owners[0].held_since);
}

TEST(AddedActivity, ListsWaitersWithTheOldestFirst) {
    std::vector<lock_state> locks{lock_of("someone:1")};
    add_activity(locks, {{.uuid = uuid,
                          .info = {.host = "web1"},
                          .waits = {{"L", "plain", 1'000ms, 2s, 3s}, {"L", "spin", 0ms, 4s, {}}}}});
    ASSERT_THAT(locks[0].waiters, SizeIs(2));
    const lock_waiter& first = locks[0].waiters[0];
    EXPECT_EQ(first.text, uuid);
    EXPECT_EQ(first.kind, "spin");
    EXPECT_EQ(first.waiting_for, 4s);
    EXPECT_FALSE(first.registered);
    EXPECT_FALSE(first.timeout_left);
    EXPECT_EQ(first.client->host, "web1");
    EXPECT_EQ(locks[0].waiters[1].timeout_left, 3s);
}

TEST(AddedActivity, DoesNotListAWaiterInTheQueueTwice) {
    std::vector<lock_state> locks{lock_of("someone:1")};
    locks[0].waiters.push_back({.text = uuid + ":3", .is_holdfast = true});
    add_activity(
        locks, {{.uuid = uuid, .waits = {{"L", "fair", 0ms, 4s, {}}, {"L", "fair", 0ms, 2s, {}}}}});
    ASSERT_THAT(locks[0].waiters, SizeIs(2));
    EXPECT_TRUE(locks[0].waiters[0].registered);
    EXPECT_EQ(locks[0].waiters[0].waiting_for, 4s);
    EXPECT_FALSE(locks[0].waiters[1].registered);
}

TEST(AddedActivity, CountsAReportedWaiterOnceIfTheServerDoesNotListTheWholeQueue) {
    std::vector<lock_state> locks{lock_of("someone:1")};
    locks[0].waiting = 4;
    locks[0].waiters.push_back({.text = uuid + ":3", .is_holdfast = true});
    add_activity(locks, {{.uuid = uuid,
                          .waits = {{"L", "fair", 0ms, 6s, {}},
                                    {"L", "fair", 0ms, 5s, {}},
                                    {"L", "plain", 0ms, 7s, {}},
                                    {"L", "fair", 0ms, 4s, {}}}},
                         {.uuid = "other",
                          .waits = {{"L", "write", 0ms, 3s, {}}, {"L", "fair", 0ms, 2s, {}}}}});
    ASSERT_THAT(locks[0].waiters, SizeIs(6));
    EXPECT_TRUE(locks[0].waiters[3].registered) << "it may be one of the four in the queue";
    EXPECT_EQ(locks[0].waiters[3].waiting_for, 3s);
    EXPECT_FALSE(locks[0].waiters[4].registered);
    EXPECT_EQ(locks[0].waiters[4].kind, "plain");
    EXPECT_EQ(locks[0].reported_waiting, 2u);
}

TEST(AddedActivity, OfManyClientsAtOneLockListsTheOldestHundredWaitersAndCountsAll) {
    constexpr std::size_t clients_count = 1000, waits_count = 100;
    std::vector<lock_state> locks{lock_of(uuid + ":7")};
    std::vector<seen_client> clients(clients_count);
    for (std::size_t i = 0; i < clients_count; ++i) {
        clients[i].uuid = std::to_string(i);
        clients[i].waits.assign(waits_count, {"L", "fair", 0ms, duration{i}, {}});
        clients[i].holds.assign(waits_count, {"L", "plain", "7", 1'000ms, 5s});
        locks[0].owners.push_back({.text = clients[i].uuid + ":7"});
    }
    add_activity(locks, clients);
    ASSERT_THAT(locks[0].waiters, SizeIs(100));
    EXPECT_EQ(locks[0].reported_waiting, clients_count * waits_count);
    EXPECT_EQ(locks[0].waiters.front().text, "999");
    EXPECT_EQ(locks[0].waiters.back().text, "999");
    EXPECT_EQ(locks[0].owners.back().held_for, 5s);
}

TEST(AddedActivity, AddsNothingToAValueThatIsNoLock) {
    std::vector<lock_state> locks{lock_of(uuid + ":7")};
    locks[0].kind = key_kind::other;
    add_activity(locks, {{.uuid = uuid, .waits = {{"L", "plain", 0ms, 4s, {}}}}});
    EXPECT_THAT(locks[0].waiters, IsEmpty());
}

} // namespace
} // namespace holdfast::redis
