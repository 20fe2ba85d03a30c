// SPDX-License-Identifier: Apache-2.0
// What a lock is made with.
#include "support/wire_hold_of.hpp"
#include "support/wrapped_store.hpp"
#include "unit/front/real_time.hpp"

namespace holdfast {
namespace {

class MutexOptions : public in_real_time {
protected:
    template <typename Lock>
    lease taken(Lock& lock) {
        return soon(lock.async_lock(asio::use_future));
    }
};

TEST_F(MutexOptions, NoneAreTheClients) {
    mutex stock{alice, "stock", mutex_options{}};
    const lease held = taken(stock);
    EXPECT_EQ(support::wire_hold_of(held).lease(), options{}.lease_time);
    EXPECT_FALSE(support::wire_hold_of(held).deferred());
}

TEST_F(MutexOptions, ALeaseTimeOfItsOwnIsRenewed) {
    recursive_mutex stock{alice, "stock", {.lease = lease_time{7s}}};
    const lease held = taken(stock);
    EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
    EXPECT_TRUE(support::wire_hold_of(held).renewed());
}

TEST_F(MutexOptions, SayTheSameAsTheConstructors) {
    mutex named{alice, "stock", {.lease = lease_time{7s}, .deferred = true}};
    mutex listed{alice, "shelf", lease_time{7s}, deferred_release};
    for (mutex* each : {&named, &listed}) {
        const lease held = taken(*each);
        EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
        EXPECT_TRUE(support::wire_hold_of(held).deferred());
    }
}

TEST_F(MutexOptions, TheTypeSaysWhetherItIsRecursive) {
    mutex plain{alice, "stock", {.deferred = true}};
    recursive_mutex counted{alice, "shelf", {.deferred = true}};
    const std::scoped_lock both{plain, counted};
    EXPECT_EQ(thrown_by([&] { plain.lock(); }).code, errc::already_held);
    EXPECT_TRUE(counted.try_lock());
    counted.unlock();
}

class keeps_no_locks final : public support::wrapped_locks {
public:
    using wrapped_locks::wrapped_locks;
    bool offers(lock_kind) const noexcept override { return false; }
};

TEST_F(MutexOptions, AKindThatTheStoreDoesNotKeepIsRefused) {
    store_factory without = [real = server.connect()](store_context context) {
        return std::make_unique<support::wrapped_store<keeps_no_locks>>(real(std::move(context)));
    };
    client home{options{.store = std::move(without)}};
    const auto refused = thrown_by([&] { const mutex m{home, "stock"}; });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("has no plain locks; Redis, Valkey, MySQL"));
}

} // namespace
} // namespace holdfast
