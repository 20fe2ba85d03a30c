// SPDX-License-Identifier: Apache-2.0
// A thread that locks again what it holds.
#include "unit/front/real_time.hpp"

#include <limits>

namespace holdfast {
namespace {

class Recursion : public in_real_time {
protected:
    recursive_mutex stock{alice, "stock"};
    recursive_mutex same_name{alice, "stock"};
    mutex plain{alice, "stock"};

    duration stored() const { return server.inspect("stock")->remaining.value(); }
};

TEST_F(Recursion, IsCountedAndTheStoreSeesOneHold) {
    EXPECT_EQ(stock.hold_count(), 0u);
    stock.lock();
    const std::vector<std::string> owners = server.inspect("stock")->owners;
    stock.lock();
    EXPECT_TRUE(stock.try_lock());
    EXPECT_TRUE(stock.try_lock_for(1s));
    EXPECT_EQ(stock.hold_count(), 4u);
    EXPECT_EQ(server.inspect("stock")->owners, owners);
    for (std::size_t left : {3u, 2u, 1u}) {
        stock.unlock();
        EXPECT_EQ(stock.hold_count(), left);
        EXPECT_FALSE(is_free("stock"));
    }
    stock.unlock();
    EXPECT_EQ(stock.hold_count(), 0u);
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, SendsNoMessage) {
    stock.lock();
    const std::size_t before = sent.all();
    for (int i = 0; i < 10'000; ++i) {
        const std::scoped_lock again{stock};
        const std::scoped_lock through_another_object{same_name};
    }
    EXPECT_EQ(sent.all(), before);
    EXPECT_EQ(sent.all(), 1u);
    stock.unlock();
}

TEST_F(Recursion, ObjectsOfOneNameCountTogether) {
    stock.lock();
    same_name.lock();
    EXPECT_EQ(stock.hold_count(), 2u);
    EXPECT_EQ(same_name.hold_count(), 2u);
    stock.unlock();
    EXPECT_TRUE(same_name.is_held_by_this_thread());
    same_name.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, OtherThreadsAreOthers) {
    stock.lock();
    soon(elsewhere([this] {
        EXPECT_FALSE(stock.is_held_by_this_thread());
        EXPECT_EQ(stock.hold_count(), 0u);
        EXPECT_FALSE(stock.try_lock());
        EXPECT_FALSE(stock.try_lock_for(10ms));
    }));
    EXPECT_EQ(stock.hold_count(), 1u);
    stock.unlock();
}

TEST_F(Recursion, APlainMutexRefusesAtOnce) {
    plain.lock();
    const std::size_t before = sent.all();
    const auto attempts = {
        +[](mutex& m) { m.lock(); },
        +[](mutex& m) { m.lock(lease_time{1s}); },
        +[](mutex& m) { (void)m.try_lock(); },
        +[](mutex& m) { (void)m.try_lock_for(1h); },
        +[](mutex& m) { (void)m.try_lock_until(std::chrono::steady_clock::time_point::max()); },
    };
    for (const auto attempt : attempts) {
        const auto refused = thrown_by([&] { attempt(plain); });
        EXPECT_EQ(refused.code, errc::already_held);
        EXPECT_THAT(refused.text, HasSubstr("recursive"));
    }
    EXPECT_EQ(sent.all(), before);
    EXPECT_EQ(plain.hold_count(), 1u);
    plain.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, APlainMutexRefusesWhatARecursiveOneOfItsNameHolds) {
    stock.lock();
    EXPECT_EQ(thrown_by([&] { plain.lock(); }).code, errc::already_held);
    stock.unlock();
}

TEST_F(Recursion, OfALostHoldSaysSoAndNeverTakesItAgain) {
    stock.lock();
    ASSERT_TRUE(stock.force_unlock());
    EXPECT_FALSE(stock.is_held_by_this_thread());
    EXPECT_EQ(stock.hold_count(), 0u);
    const auto refused = thrown_by([&] { stock.lock(); });
    EXPECT_EQ(refused.code, errc::lease_lost);
    EXPECT_THAT(refused.text, HasSubstr("unlock"));
    EXPECT_EQ(thrown_by([&] { (void)stock.try_lock(); }).code, errc::lease_lost);
    EXPECT_TRUE(is_free("stock"));

    error_code ec;
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    stock.lock(); // and now it may begin anew
    EXPECT_EQ(stock.hold_count(), 1u);
    stock.unlock();
}

TEST_F(Recursion, EveryLevelOfALostHoldIsToldAtItsUnlock) {
    stock.lock();
    stock.lock();
    ASSERT_TRUE(stock.force_unlock());
    error_code inner, outer, after;
    stock.unlock(inner);
    stock.unlock(outer);
    stock.unlock(after);
    EXPECT_EQ(inner, errc::lease_lost);
    EXPECT_EQ(outer, errc::lease_lost);
    EXPECT_EQ(after, errc::not_owner);
}

TEST_F(Recursion, WithALongerLeaseExtendsFirst) {
    stock.lock(lease_time{10s});
    stock.lock(lease_time{60s});
    EXPECT_EQ(sent.count(verb::renew), 1u);
    EXPECT_GT(stored(), 55s);
    stock.unlock();
    EXPECT_GT(stored(), 55s) << "a partial unlock shortens nothing";
    stock.unlock();
}

TEST_F(Recursion, WithAShorterLeaseShortensNothing) {
    stock.lock(lease_time{60s});
    const std::size_t before = sent.all();
    stock.lock(lease_time{1s});
    EXPECT_EQ(sent.all(), before);
    EXPECT_GT(stored(), 55s);
    stock.unlock();
    stock.unlock();
}

TEST_F(Recursion, WithoutALeaseMakesAFixedHoldRenewed) {
    recursive_mutex brief{alice, "brief", lease_time{300ms}};
    brief.lock(lease_time{300ms});
    brief.lock();
    // Far beyond its end: renewals come meanwhile.
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) >= 6; }));
    EXPECT_EQ(brief.hold_count(), 2u);
    brief.unlock();
    brief.unlock();
}

TEST_F(Recursion, WithAFixedLeaseKeepsARenewedHoldRenewed) {
    recursive_mutex brief{alice, "brief", lease_time{300ms}};
    brief.lock();
    brief.lock(lease_time{100ms});
    brief.unlock();
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) >= 6; }));
    EXPECT_EQ(brief.hold_count(), 1u);
    brief.unlock();
}

TEST_F(Recursion, ThatCannotBeExtendedChangesNothing) {
    stock.lock(lease_time{10s});
    sent.set({.refused = true});
    EXPECT_EQ(thrown_by([&] { stock.lock(lease_time{60s}); }).code, errc::unreachable);
    EXPECT_EQ(stock.hold_count(), 1u);
    sent.set({});
    stock.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, AThousandLevelsAreFine) {
    for (int i = 0; i < 1'000; ++i)
        stock.lock();
    EXPECT_EQ(stock.hold_count(), 1'000u);
    for (int i = 0; i < 1'000; ++i)
        stock.unlock();
    EXPECT_TRUE(is_free("stock"));
}

} // namespace
} // namespace holdfast
