// SPDX-License-Identifier: Apache-2.0
// What the server told of a key, and whether that is a lock.
#include "store/redis/client_cards.hpp"
#include "store/redis/lock_states.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

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

reply hash(fields all, std::int64_t left = 30'000, std::int64_t listeners = 0,
           std::int64_t last_token = 0) {
    reply made;
    made.type = reply::kind::array;
    made.items = {text("hash"), number(left), number(listeners), number(last_token),
                  number(static_cast<std::int64_t>(all.size()))};
    for (const auto& [field, value] : all) {
        made.items.push_back(text(field));
        made.items.push_back(text(value));
    }
    return made;
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

} // namespace
} // namespace holdfast::redis
