// SPDX-License-Identifier: Apache-2.0
// Functions of the Redis store that need no server: options, states of locks, permit ids and
// request slots. tests/redis/store_kinds_test.cpp tests which options are refused.
#include "store/redis/client_info.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/names.hpp"
#include "store/redis/redis_store.hpp"
#include "support/clocks.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

duration replica_timeout_with(duration command_timeout, duration wanted) {
    options how;
    how.command_timeout = command_timeout;
    how.replica_timeout = wanted;
    return checked(how).replica_timeout;
}

TEST(CheckedOptions, TheUsualWaitForReplicasIsNeverMoreThanAThirdOfTheTimeLimit) {
    const duration usual = options{}.replica_timeout;
    EXPECT_EQ(replica_timeout_with(3s, usual), 1s);
    EXPECT_EQ(replica_timeout_with(1h, usual), 1s);
    EXPECT_EQ(replica_timeout_with(600ms, usual), 200ms);
    EXPECT_EQ(replica_timeout_with(2ms, usual), 1ms);
    EXPECT_EQ(replica_timeout_with(600ms, 100ms), 100ms);
}

// Replies of the server about a key, and whether the key is a lock.

using fields = std::initializer_list<std::pair<const char*, const char*>>;

constexpr const char* jvm = "8743c9c0-0795-4907-87fd-6c719a6b4586:49";
constexpr const char* ours = "8743c9c0-0795-8fd5-87fd-6c719a6b4586:7";

reply text(std::string words) {
    reply made;
    made.type = reply::kind::text;
    made.text = std::move(words);
    return made;
}

reply number(std::int64_t value) {
    reply made;
    made.type = reply::kind::integer;
    made.integer = value;
    return made;
}

reply list(std::vector<reply> all) {
    reply made;
    made.type = reply::kind::array;
    made.items = std::move(all);
    return made;
}

/// A field, its value, the lease of its own (-2: none).
using timed = std::tuple<const char*, const char*, std::int64_t>;

/// A waiter, the time that its place lasts, and the number of its subscribers.
using waiting = std::tuple<const char*, std::int64_t, std::int64_t>;

reply told_of_hash(const std::vector<timed>& all, std::int64_t left = 30'000,
                   std::int64_t listeners = 0, std::int64_t last_token = 0) {
    std::vector<reply> words;
    for (const auto& [field, value, own] : all)
        words.insert(words.end(), {text(field), text(value), number(own)});
    return list({text("hash"), number(left), number(listeners), number(last_token),
                 number(static_cast<std::int64_t>(all.size())), list(std::move(words)), number(0),
                 list({})});
}

reply hash(fields all, std::int64_t left = 30'000, std::int64_t listeners = 0,
           std::int64_t last_token = 0) {
    std::vector<timed> untimed;
    for (const auto& [field, value] : all)
        untimed.emplace_back(field, value, -2);
    return told_of_hash(untimed, left, listeners, last_token);
}

reply with_waiters(reply told, std::int64_t count, const std::vector<waiting>& all) {
    told.items[6] = number(count);
    for (const auto& [owner, left, listeners] : all)
        for (reply& word : std::array{text(owner), number(left), number(listeners)})
            told.items[7].items.push_back(std::move(word));
    return told;
}

key_kind kind_of(fields all) {
    return lock_state_in("L", hash(all)).value().kind;
}

TEST(LockState, OfAPlainLockHasOneOwner) {
    const lock_state held = lock_state_in("L", hash({{jvm, "3"}}, 30'000, 2)).value();
    EXPECT_EQ(held.name, "L");
    EXPECT_EQ(held.kind, key_kind::lock);
    EXPECT_EQ(held.type, "hash");
    ASSERT_EQ(held.owners.size(), 1u);
    EXPECT_EQ(held.owners[0].text, jvm);
    EXPECT_EQ(held.owners[0].count, 3);
    EXPECT_FALSE(held.owners[0].is_holdfast);
    EXPECT_EQ(held.remaining, duration{30'000});
    EXPECT_EQ(held.listeners, 2u);
    EXPECT_TRUE(lock_state_in("L", hash({{ours, "1"}}))->owners.at(0).is_holdfast);
}

TEST(LockState, WithoutAnEndAndWithoutTheRightToCountSaysSo) {
    const lock_state held = lock_state_in("L", hash({{jvm, "1"}}, -1, -1)).value();
    EXPECT_FALSE(held.remaining);
    EXPECT_FALSE(held.listeners);
}

TEST(LockState, OfAFencedLockHasALastToken) {
    EXPECT_EQ(lock_state_in("L", hash({{jvm, "1"}}, 1, 0, 17))->last_token, 17u);
    EXPECT_EQ(lock_state_in("L", hash({{jvm, "1"}}))->last_token, 0u);
}

TEST(LockState, OfAReadWriteLockHasAMode) {
    const std::string writer = std::string{jvm} + ":write";
    EXPECT_EQ(kind_of({{"mode", "read"}, {jvm, "1"}, {ours, "2"}}), key_kind::read_write_lock);
    EXPECT_EQ(kind_of({{"mode", "write"}, {writer.c_str(), "1"}}), key_kind::read_write_lock);
    EXPECT_EQ(kind_of({{"mode", "dark"}, {jvm, "1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{"mode", "read"}, {"colour", "1"}}), key_kind::other);
}

TEST(LockState, OfReadersHasTheLeaseOfEachAndTheWriterFirst) {
    const std::string writer = std::string{jvm} + ":write";
    const lock_state held = lock_state_in("L", told_of_hash({{"mode", "write", -2},
                                                             {jvm, "2", 700},
                                                             {ours, "1", -2},
                                                             {writer.c_str(), "1", -2}}))
                                .value();
    ASSERT_EQ(held.owners.size(), 3u);
    EXPECT_EQ(held.owners[0].text, writer);
    EXPECT_TRUE(held.owners[0].writes);
    EXPECT_FALSE(held.owners[0].remaining) << "the lock's";
    EXPECT_EQ(held.owners[1].remaining, duration{700});
    EXPECT_FALSE(held.owners[1].writes);
    EXPECT_EQ(held.owners[2].remaining, duration{0}) << "one of ours without a timer is dead";
    const lock_state jvms = lock_state_in("L", hash({{"mode", "read"}, {jvm, "1"}})).value();
    EXPECT_FALSE(jvms.owners.at(0).remaining) << "a JVM's may be well without one";
    const lock_state endless =
        lock_state_in("L", told_of_hash({{"mode", "read", -2}, {ours, "1", -1}})).value();
    EXPECT_FALSE(endless.owners.at(0).remaining);
    EXPECT_FALSE(lock_state_in("L", hash({{ours, "1"}}))->owners.at(0).remaining);
}

TEST(LockState, TellsWhoWaitsInOrder) {
    const reply told =
        with_waiters(hash({{jvm, "1"}}), 7, {{ours, 250, 1}, {jvm, 0, 0}, {ours, -1, -1}});
    const lock_state held = lock_state_in("L", told).value();
    EXPECT_EQ(held.waiting, 7u) << "more than are told";
    ASSERT_EQ(held.waiters.size(), 3u);
    EXPECT_EQ(held.waiters[0].text, ours);
    EXPECT_TRUE(held.waiters[0].is_holdfast);
    EXPECT_EQ(held.waiters[0].remaining, duration{250});
    EXPECT_EQ(held.waiters[0].listens, true);
    EXPECT_FALSE(held.waiters[1].is_holdfast);
    EXPECT_EQ(held.waiters[1].remaining, duration{0});
    EXPECT_EQ(held.waiters[1].listens, false);
    EXPECT_FALSE(held.waiters[2].remaining || held.waiters[2].listens);
    EXPECT_FALSE(lock_state_in("L", with_waiters(hash({{jvm, "1"}}), -1, {}))->waiting);
}

TEST(LockState, OfAFreeLockWhoseTurnItIsSaysSo) {
    reply told = with_waiters(hash({}, -2), 1, {{ours, 250, 1}});
    told.items[0] = text("none");
    const lock_state free = lock_state_in("L", told).value();
    EXPECT_FALSE(free.is_held);
    EXPECT_EQ(free.kind, key_kind::lock);
    EXPECT_TRUE(free.owners.empty());
    EXPECT_TRUE(lock_state_in("L", hash({{jvm, "1"}}))->is_held);
}

TEST(LockState, OfAHashOfSomebodyElseIsOther) {
    const std::string without_number{jvm, 37};
    const std::string with_text = without_number + "x";
    EXPECT_EQ(kind_of({{"name", "Ada"}}), key_kind::other);
    EXPECT_EQ(kind_of({{jvm, "Ada"}}), key_kind::other);
    EXPECT_EQ(kind_of({{jvm, "-1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{jvm, "1"}, {ours, "1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{jvm, "1"}, {"name", "1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{without_number.c_str(), "1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{with_text.c_str(), "1"}}), key_kind::other);
    EXPECT_EQ(kind_of({{"mode", "read"}}), key_kind::other) << "nobody holds it";
    EXPECT_TRUE(lock_state_in("L", hash({{"name", "1"}}))->owners.empty());
}

TEST(LockState, OfAHashWithTooManyFieldsToTellIsOther) {
    reply big = hash({});
    big.items[4] = number(1'000'000);
    EXPECT_EQ(lock_state_in("L", big)->kind, key_kind::other);
}

TEST(LockState, OfALockWithVeryManyReadersNamesNone) {
    reply crowd = hash({{"mode", "read"}});
    crowd.items[4] = number(1'000);
    EXPECT_EQ(lock_state_in("L", crowd)->kind, key_kind::read_write_lock);
    EXPECT_TRUE(lock_state_in("L", crowd)->owners.empty());
}

reply string(const char* value, std::int64_t left = 30'000) {
    reply told = hash({{value, "1"}}, left);
    told.items[0] = text("string");
    return told;
}

TEST(LockState, OfAStringThatIsLikeATokenIsATokenLock) {
    const lock_state held = lock_state_in("L", string(ours)).value();
    EXPECT_EQ(held.kind, key_kind::token_lock);
    EXPECT_EQ(held.type, "string");
    ASSERT_EQ(held.owners.size(), 1u);
    EXPECT_EQ(held.owners[0].text, ours);
    EXPECT_TRUE(held.owners[0].is_holdfast);
    EXPECT_EQ(held.remaining, duration{30'000});
    for (const char* others : {"6fdc9f0e70e311eeb9620242ac120002", "+Zb3cGqNQ4kzLwS5x0Q1vA=="}) {
        const lock_state theirs = lock_state_in("L", string(others, -1)).value();
        EXPECT_EQ(theirs.kind, key_kind::token_lock) << others;
        EXPECT_FALSE(theirs.owners.at(0).is_holdfast) << others;
        EXPECT_FALSE(theirs.remaining) << others;
    }
    for (const char* text : {"", "1", "a sentence of some words", "fifteen letters"}) {
        EXPECT_EQ(lock_state_in("L", string(text))->kind, key_kind::other) << text;
        EXPECT_TRUE(lock_state_in("L", string(text))->owners.empty()) << text;
    }
    EXPECT_STREQ(to_string(key_kind::token_lock), "token lock");
}

TEST(LockState, OfWhatIsNoHashIsOtherAndOfNothingIsNothing) {
    reply told = hash({});
    told.items[0] = text("string");
    EXPECT_EQ(lock_state_in("L", told)->kind, key_kind::other);
    EXPECT_EQ(lock_state_in("L", told)->type, "string");
    told.items[0] = text("none");
    EXPECT_FALSE(lock_state_in("L", told));
}

TEST(LockState, IsNotMadeOfAnAnswerOfAnotherShape) {
    reply cut = hash({{jvm, "1"}});
    cut.items.resize(4);
    EXPECT_THROW((void)lock_state_in("L", cut), boost::system::system_error);
    reply wrong = hash({{jvm, "1"}});
    wrong.items[1] = text("soon");
    EXPECT_THROW((void)lock_state_in("L", wrong), boost::system::system_error);
    for (const std::size_t list : {5U, 7U}) {
        reply odd = hash({{jvm, "1"}});
        odd.items[list].items.push_back(text("one word more"));
        EXPECT_THROW((void)lock_state_in("L", odd), boost::system::system_error);
    }
    EXPECT_THROW((void)lock_state_in("L", number(1)), boost::system::system_error);
}

TEST(ClientKey, IsOnlyOfOwnersWithOurMark) {
    EXPECT_EQ(client_key(ours), "holdfast_client:8743c9c0-0795-8fd5-87fd-6c719a6b4586");
    EXPECT_FALSE(client_key(jvm));
    EXPECT_FALSE(client_key("8743c9c0-0795-8fd5-87fd-6c719a6b4586"));
    EXPECT_FALSE(client_key(""));
    const owner_id made{{0, 1, 2, 3, 4, 5, 0x8f, 0xd5}, 9};
    EXPECT_EQ(client_key(made.client), client_key(to_string(made)));
}

const owner_id owner{{0x87, 0x43, 0xc9, 0xc0, 0x07, 0x95, 0x8f, 0xd5, 0x87, 0xfd, 0x6c, 0x71, 0x9a,
                      0x6b, 0x45, 0x86},
                     0x0102'0304'05ffULL};

TEST(PermitId, HasTheClientInFrontOfTheNumber) {
    EXPECT_EQ(permit_id(owner), "8743c9c007958fd587fd0102030405ff");
    EXPECT_EQ(permit_id({owner.client, 1}), "8743c9c007958fd587fd000000000001");
    EXPECT_NE(permit_id({owner.client, 0xff}), permit_id({owner.client, 0x100}));
}

TEST(PermitId, IsItsBytesFromRedisson317On) {
    const std::string stored = stored_permit(permit_id(owner), redisson_form::v3_17);
    EXPECT_EQ(stored,
              std::string("\x87\x43\xc9\xc0\x07\x95\x8f\xd5\x87\xfd\x01\x02\x03\x04\x05\xff", 16));
    EXPECT_EQ(stored_permit("00ff", redisson_form::v3_17), std::string("\0\xff", 2));
}

TEST(PermitId, IsItsDigitsBefore) {
    EXPECT_EQ(stored_permit(permit_id(owner), redisson_form::v3_16), permit_id(owner));
    EXPECT_EQ(stored_permit(permit_id(owner), redisson_form::v3_13), permit_id(owner));
}

TEST(PermitId, BeginsWithWhatAllOfAClientBeginWith) {
    for (const redisson_form form : {redisson_form::v3_13, redisson_form::v3_17}) {
        const std::string prefix = permit_prefix(owner, form);
        EXPECT_EQ(prefix.size(), form == redisson_form::v3_17 ? 10u : 20u);
        EXPECT_THAT(stored_permit(permit_id(owner), form), ::testing::StartsWith(prefix));
        EXPECT_THAT(stored_permit(permit_id({owner.client, 7}), form),
                    ::testing::StartsWith(prefix));
    }
}

constexpr owner_id request(std::uint64_t number) {
    return {{0x55, 0x0e, 0x84, 0x00, 0xe2, 0x9b, 0x81, 0xd5, 0xa7, 0x16, 1, 2, 3, 4, 5, 6}, number};
}

std::string bytes(std::initializer_list<int> all) {
    return {all.begin(), all.end()};
}

TEST(RateMember, ThatOf317HasItsLengthTheClientTheNumberAndTheCount) {
    EXPECT_EQ(rate_member(request(0x0102), 3, redisson_form::v3_17),
              bytes({0x10, 0x55, 0x0e, 0x84, 0x00, 0xe2, 0x9b, 0x81, 0xd5, 0xa7, 0x16, //
                     0x02, 0x01, 0,    0,    0,    0,    3,    0,    0,    0}));
}

TEST(RateMember, EarlierOnesAreShorter) {
    EXPECT_EQ(rate_member(request(1), 3, redisson_form::v3_13).size(), 8u);
    const std::string of_316 = rate_member(request(1), 3, redisson_form::v3_16);
    EXPECT_EQ(of_316.size(), 20u);
    EXPECT_EQ(of_316.substr(0, 8), bytes({8, 0, 0, 0, 0, 0, 0, 0})) << "how long what follows is";
}

TEST(RateMember, TheCountIsTheLastFourBytesTheLowestFirst) {
    for (const redisson_form form :
         {redisson_form::v3_13, redisson_form::v3_16, redisson_form::v3_17}) {
        const std::string member = rate_member(request(7), 0x01020304, form);
        EXPECT_EQ(member.substr(member.size() - 4), bytes({4, 3, 2, 1}));
    }
}

TEST(RateMember, EachRequestOfAClientHasItsOwn) {
    for (const redisson_form form :
         {redisson_form::v3_13, redisson_form::v3_16, redisson_form::v3_17}) {
        std::set<std::string> all;
        for (std::uint64_t number = 1; number <= 10'000; ++number)
            all.insert(rate_member(request(number), 1, form));
        EXPECT_EQ(all.size(), 10'000u);
    }
}

const lock_name seats{"seats"}, gate{"gate"};

class RequestSlots : public testing::Test {
protected:
    /// Result of a request for a slot.
    struct wait {
        std::optional<request_slot> got{};
        error_code failed{};
        std::string text{};
    };

    asio::io_context io;
    sim::sim_clock clock{io};
    request_slots all{clock};

    std::shared_ptr<wait> begin(const lock_name& name, std::uint64_t request, duration timeout = 3s,
                                duration progress_timeout = {}) {
        const auto result = std::make_shared<wait>();
        auto work = all.take(name, request, clock.now() + timeout, progress_timeout);
        asio::co_spawn(io, std::move(work), [result](std::exception_ptr bad, request_slot got) {
            if (!bad) {
                result->got = got;
                return;
            }
            try {
                std::rethrow_exception(bad);
            } catch (const boost::system::system_error& e) {
                result->failed = e.code();
                result->text = e.what();
            }
        });
        clock.run_for(0ms);
        return result;
    }
    request_slot take(const lock_name& name, std::uint64_t request) {
        return begin(name, request)->got.value();
    }
    void take_all_of(const lock_name& name) {
        for (std::uint64_t request = 0; request < request_slots::of_one_name_max; ++request)
            (void)take(name, request);
    }
};

TEST_F(RequestSlots, RequestKeepsItsSlotAndNumberUntilItIsOver) {
    const request_slot first = take(seats, 7), again = take(seats, 7);
    EXPECT_EQ(first.slot, again.slot);
    EXPECT_EQ(first.number, again.number);
    EXPECT_EQ(all.count_taken(seats), 1U);
}

TEST_F(RequestSlots, RequestsAtTheSameTimeHaveDifferentSlots) {
    EXPECT_EQ(take(seats, 7).slot, 0);
    EXPECT_EQ(take(seats, 8).slot, 1);
    EXPECT_EQ(take(seats, 9).slot, 2);
    EXPECT_EQ(take(gate, 10).slot, 0) << "another name has slots of its own";
}

TEST_F(RequestSlots, ReleaseWaitsAsLongAsOtherRequestsEnd) {
    take_all_of(seats);
    std::vector<std::shared_ptr<wait>> releases;
    for (std::uint64_t request = 5000; request < 5004; ++request)
        releases.push_back(begin(seats, request, 3s, 3s));
    for (std::uint64_t request = 0; request < 3; ++request) {
        clock.run_for(2s);
        all.over(seats, request);
        clock.run_for(0ms);
        EXPECT_TRUE(releases.at(request)->got) << request;
    }
    clock.run_for(2999ms);
    EXPECT_FALSE(releases.back()->failed);
    clock.run_for(2ms);
    EXPECT_EQ(releases.back()->failed, errc::overloaded) << "no request has ended for 3 s";
}

TEST_F(RequestSlots, LowestFreeSlotIsTaken) {
    for (std::uint64_t request = 0; request < 4; ++request)
        (void)take(seats, request);
    all.over(seats, 2);
    all.over(seats, 1);
    EXPECT_EQ(take(seats, 10).slot, 1);
    EXPECT_EQ(take(seats, 11).slot, 2);
    EXPECT_EQ(take(seats, 12).slot, 4);
}

// Otherwise the server would mistake a new request for an old one.
TEST_F(RequestSlots, NumbersInASlotAlwaysGrow) {
    const request_slot first = take(seats, 900);
    all.over(seats, 900);
    const request_slot second = take(seats, 3);
    EXPECT_EQ(second.slot, first.slot);
    EXPECT_GT(second.number, first.number);
    all.over(seats, 3);
    EXPECT_GT(take(seats, 900).number, second.number) << "also after the name was forgotten";
}

TEST_F(RequestSlots, EndOfAnUnknownRequestChangesNothing) {
    all.over(seats, 1);
    (void)take(seats, 1);
    all.over(seats, 2);
    EXPECT_EQ(all.count_taken(seats), 1U);
    EXPECT_EQ(all.count_taken(gate), 0U);
}

TEST_F(RequestSlots, RequestWithoutAFreeSlotWaitsForOne) {
    take_all_of(seats);
    const auto first = begin(seats, 5000), second = begin(seats, 5001);
    EXPECT_FALSE(first->got);
    EXPECT_EQ(take(gate, 5000).slot, 0) << "slots of another name are free";
    all.over(seats, 17);
    clock.run_for(0ms);
    ASSERT_TRUE(first->got) << "the request that came first";
    EXPECT_EQ(first->got->slot, 17);
    EXPECT_FALSE(second->got);
    all.over(seats, 4);
    all.over(seats, 5);
    clock.run_for(0ms);
    EXPECT_TRUE(second->got);
    EXPECT_TRUE(begin(seats, 5002)->got);
}

TEST_F(RequestSlots, RequestFailsWithOverloadedIfNoSlotBecomesFreeInTime) {
    take_all_of(seats);
    const auto gives_up = begin(seats, 5000, 1s), goes_on = begin(seats, 5001, 3s);
    clock.run_for(1s);
    EXPECT_EQ(gives_up->failed, errc::overloaded);
    EXPECT_THAT(gives_up->text, testing::HasSubstr("1024 unanswered requests"));
    all.over(seats, 9);
    clock.run_for(0ms);
    EXPECT_TRUE(goes_on->got) << "the request that gave up keeps no slot";
}

} // namespace
} // namespace holdfast::redis
