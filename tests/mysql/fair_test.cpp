// SPDX-License-Identifier: Apache-2.0
// The queue of a fair lock.
#include "mysql/store_fixture.hpp"
#include "store/mysql/fair_texts.hpp"

#include <mutex>

namespace holdfast::mysql {
namespace {

using remote::verdict;

class MysqlFair : public on_store {
protected:
    ask wants(std::uint8_t client, std::uint64_t number = 1) {
        ask want = wanted(lock_kind::fair, number, 30s, client);
        want.outlasts = 30s;
        return want;
    }
    packed_answer look(const ask& want, const std::string& late = never_late) {
        packed_answer told;
        const auto texts = fair_attempt(in_schema, want, {late, "who"});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            operate().run(texts[i]);
            if (i == fair_update_at)
                told = taken_apart(operate().insert_id());
        }
        return told;
    }
    void leave(const ask& want) {
        operate().release(want);
        operate().run(turn_removed(in_schema, want));
    }
    bool is_over(const ask& want) {
        return operate().value("SELECT expires<=UTC_TIMESTAMP(6) FROM " + in_schema.holds +
                               " WHERE kind=3 AND name=" + hex(name_.text) +
                               " AND owner=" + hex(to_string(want.owner))) == "1";
    }
    std::size_t queue() {
        return std::stoul(operate().value("SELECT COUNT(*) FROM " + in_schema.holds +
                                          " WHERE kind=3 AND name=" + hex(name_.text)));
    }
};

TEST_F(MysqlFair, WhoCameFirstIsFirst) {
    EXPECT_EQ(look(wants(1)).said, verdict::granted);
    EXPECT_EQ(look(wants(2)).said, verdict::busy);
    EXPECT_EQ(look(wants(3)).said, verdict::busy);
    leave(wants(1));
    EXPECT_EQ(look(wants(3)).said, verdict::busy) << "it is the second's turn";
    EXPECT_EQ(look(wants(4)).said, verdict::busy);
    EXPECT_EQ(look(wants(2)).said, verdict::granted);
    EXPECT_EQ(queue(), 2U);
    leave(wants(2));
    EXPECT_EQ(look(wants(3)).said, verdict::granted);
}

TEST_F(MysqlFair, WhoDoesNotWaitHasNoPlace) {
    look(wants(1));
    ask once = wants(2);
    once.waits = false;
    EXPECT_EQ(look(once).said, verdict::busy);
    EXPECT_EQ(queue(), 0U);
}

TEST_F(MysqlFair, ALateLookHasNoPlace) {
    EXPECT_EQ(look(wants(2), "0").said, verdict::late);
    EXPECT_EQ(queue(), 0U);
}

TEST_F(MysqlFair, ALookKeepsItsPlace) {
    look(wants(1));
    look(wants(2));
    look(wants(3));
    look(wants(2));
    leave(wants(1));
    EXPECT_EQ(look(wants(3)).said, verdict::busy);
    EXPECT_EQ(look(wants(2)).said, verdict::granted);
}

TEST_F(MysqlFair, WhoseTimeIsOverIsPassedAndJoinsAtTheEnd) {
    look(wants(1));
    ask dead = wants(2);
    dead.outlasts = 1ms;
    look(dead);
    look(wants(3));
    leave(wants(1));
    ASSERT_TRUE(support::eventually([&] { return is_over(dead); }));
    EXPECT_EQ(look(wants(4)).said, verdict::busy);
    EXPECT_EQ(look(dead).said, verdict::busy) << "others have come meanwhile";
    EXPECT_EQ(look(wants(3)).said, verdict::granted);
    leave(wants(3));
    EXPECT_EQ(look(wants(4)).said, verdict::granted);
}

TEST_F(MysqlFair, WaitersAreServedInOrderOfArrival) {
    client home = make_client();
    fair_mutex held{home, name_};
    held.lock();
    std::mutex guard;
    std::vector<int> order;
    std::vector<std::future<void>> all;
    std::vector<client> others;
    for (int i = 0; i < 4; ++i)
        others.push_back(make_client());
    for (int i = 0; i < 4; ++i) {
        all.push_back(meanwhile([&, i] {
            fair_mutex mine{others[static_cast<std::size_t>(i)], name_};
            mine.lock();
            {
                const std::scoped_lock one{guard};
                order.push_back(i);
            }
            mine.unlock();
        }));
        ASSERT_TRUE(
            support::eventually([&] { return queue() == static_cast<std::size_t>(i) + 1; }));
    }
    held.unlock();
    for (auto& each : all)
        support::soon(std::move(each));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(queue(), 0U);
}

} // namespace
} // namespace holdfast::mysql
