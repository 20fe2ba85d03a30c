// SPDX-License-Identifier: Apache-2.0
// A name has only one kind on each store: every function of another kind is refused and changes
// nothing.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct verb {
    std::string kind; ///< as messages call what is asked for
    std::string words;
    std::function<void()> act;
};

class OneName : public suite {
protected:
    using holdfast_mutex = ::holdfast::mutex;

    void add(std::vector<verb>& all, const std::string& kind, basic_mutex& lock) {
        all.push_back({kind, "try_lock", [&] { (void)lock.try_lock(); }});
        all.push_back({kind, "try_lock_for", [&] { (void)lock.try_lock_for(1min); }});
        all.push_back({kind, "is_locked", [&] { (void)lock.is_locked(); }});
        all.push_back({kind, "remaining_lease", [&] { (void)lock.remaining_lease(); }});
        all.push_back({kind, "force_unlock", [&] { (void)lock.force_unlock(); }});
    }

    /// Verbs of each kind that the store has, under one name.
    std::vector<verb> verbs() {
        std::vector<verb> all;
        const store_kind& has = GetParam();
        const std::string mutexes = words_for(lock_kind::plain), pair = words_for(lock_kind::read);
        add(all, mutexes, *plain_);
        if (fair_)
            add(all, mutexes, *fair_);
        if (fenced_)
            add(all, mutexes, *fenced_);
        if (spin_)
            add(all, mutexes, *spin_);
        if (shared_) {
            add(all, pair, *shared_);
            add(all, pair, shared_->shared());
        }
        if (token_)
            add(all, words_for(lock_kind::token), *token_);
        if (has.has(counter_kind::semaphore)) {
            const std::string kind = words_for(counter_kind::semaphore);
            all.push_back({kind, "try_acquire", [&] { (void)semaphore_->try_acquire(); }});
            all.push_back({kind, "release", [&] { semaphore_->release(10); }});
            all.push_back({kind, "try_set_permits", [&] { (void)semaphore_->try_set_permits(3); }});
            all.push_back(
                {kind, "available_permits", [&] { (void)semaphore_->available_permits(); }});
            all.push_back(
                {kind, "release_if_exists", [&] { (void)semaphore_->release_if_exists(); }});
            all.push_back({kind, "add_permits", [&] { semaphore_->add_permits(-1); }});
            all.push_back({kind, "drain_permits", [&] { (void)semaphore_->drain_permits(); }});
            all.push_back({kind, "erase", [&] { (void)semaphore_->erase(); }});
        }
        if (has.has(counter_kind::latch)) {
            const std::string kind = words_for(counter_kind::latch);
            all.push_back({kind, "try_wait", [&] { (void)latch_->try_wait(); }});
            all.push_back({kind, "count_down", [&] { latch_->count_down(); }});
            all.push_back({kind, "try_set_count", [&] { (void)latch_->try_set_count(3); }});
            all.push_back({kind, "count", [&] { (void)latch_->count(); }});
            all.push_back({kind, "erase", [&] { (void)latch_->erase(); }});
        }
        if (has.has(lock_kind::permit)) {
            const std::string kind = words_for(lock_kind::permit);
            all.push_back({kind, "try_acquire", [&] { (void)leased_->try_acquire(); }});
            all.push_back({kind, "try_acquire_for", [&] { (void)leased_->try_acquire_for(1min); }});
            all.push_back({kind, "try_set_permits", [&] { (void)leased_->try_set_permits(3); }});
            all.push_back({kind, "available_permits", [&] { (void)leased_->available_permits(); }});
            all.push_back({kind, "acquired_permits", [&] { (void)leased_->acquired_permits(); }});
            all.push_back({kind, "erase", [&] { (void)leased_->erase(); }});
        }
        if (has.has(lock_kind::permit) && !store().leases_by_session()) {
            const std::string kind = words_for(lock_kind::permit), id(32, '0');
            all.push_back({kind, "set_permits", [&] { leased_->set_permits(3); }});
            all.push_back({kind, "add_permits", [&] { leased_->add_permits(-1); }});
            all.push_back({kind, "release of an id", [=, this] { (void)leased_->release(id); }});
            all.push_back(
                {kind, "set_lease", [=, this] { (void)leased_->set_lease(id, lease_time{1min}); }});
        }
        if (has.has(counter_kind::rate)) {
            const std::string kind = words_for(counter_kind::rate);
            all.push_back({kind, "try_acquire", [&] { (void)rates_->try_acquire(); }});
            all.push_back({kind, "set_rate", [&] { rates_->set_rate({.permits = 5, .per = 1s}); }});
            all.push_back({kind, "try_set_rate",
                           [&] { (void)rates_->try_set_rate({.permits = 5, .per = 1s}); }});
            all.push_back({kind, "release", [&] { rates_->release(1); }});
            all.push_back({kind, "available_permits", [&] { (void)rates_->available_permits(); }});
            all.push_back({kind, "current_rate", [&] { (void)rates_->current_rate(); }});
            all.push_back({kind, "erase", [&] { (void)rates_->erase(); }});
        }
        return all;
    }

    void SetUp() override {
        suite::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        const store_kind& has = GetParam();
        home_.emplace(make_client());
        other_.emplace(make_client());
        plain_.emplace(*home_, "n");
        if (has.has(lock_kind::fair))
            fair_.emplace(*home_, "n");
        if (has.has(lock_kind::fenced))
            fenced_.emplace(*home_, "n");
        if (has.has(lock_kind::spin))
            spin_.emplace(*home_, "n");
        if (has.has(lock_kind::read))
            shared_.emplace(*home_, "n");
        if (has.has(lock_kind::token))
            token_.emplace(*home_, "n");
        if (has.has(counter_kind::semaphore))
            semaphore_.emplace(*home_, "n");
        if (has.has(counter_kind::latch))
            latch_.emplace(*home_, "n");
        if (has.has(lock_kind::permit))
            leased_.emplace(*home_, "n");
        if (has.has(counter_kind::rate))
            rates_.emplace(*home_, "n");
    }

    /// `there`: as messages call what has the name. `but`: kinds that can have it too.
    void expect_refused(const std::string& there, const std::vector<std::string>& but) {
        for (const verb& each : verbs()) {
            if (std::ranges::find(but, each.kind) != but.end())
                continue;
            const std::string what = there + ", " + each.kind + ", " + each.words;
            try {
                each.act();
                ADD_FAILURE() << what << ": was carried out";
            } catch (const boost::system::system_error& why) {
                EXPECT_EQ(why.code(), store_errc::wrong_type) << what << ": " << why.what();
                EXPECT_THAT(why.what(), AllOf(HasSubstr(there), HasSubstr(each.kind))) << what;
            }
        }
    }

    std::optional<client> home_, other_;
    std::optional<holdfast_mutex> plain_;
    std::optional<fair_mutex> fair_;
    std::optional<fenced_mutex> fenced_;
    std::optional<spin_mutex> spin_;
    std::optional<shared_mutex> shared_;
    std::optional<token_mutex> token_;
    std::optional<counting_semaphore> semaphore_;
    std::optional<latch> latch_;
    std::optional<leased_semaphore> leased_;
    std::optional<rate_limiter> rates_;
};

TEST_P(OneName, OfAMutexIsRefusedToOtherKinds) {
    const std::string kind = words_for(lock_kind::plain);
    holdfast_mutex lock{*other_, "n"};
    lease held = lock.async_lock(asio::use_future).get();
    expect_refused(kind, {kind});
    EXPECT_TRUE(lock.is_locked());
    held.unlock();
}

TEST_P(OneName, OfReadersAndOfAWriterIsRefusedToOtherKinds) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::read);
    const std::string kind = words_for(lock_kind::read);
    shared_mutex lock{*other_, "n"};
    lease reads = lock.shared().async_lock(asio::use_future).get();
    expect_refused(kind, {kind});
    EXPECT_TRUE(lock.shared().is_locked());
    reads.unlock();
    lease writes = lock.async_lock(asio::use_future).get();
    expect_refused(kind, {kind});
    EXPECT_TRUE(lock.is_locked());
    writes.unlock();
}

TEST_P(OneName, OfATokenLockIsRefusedToOtherKinds) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::token);
    const std::string kind = words_for(lock_kind::token);
    token_mutex lock{*other_, "n"};
    lease held = lock.async_lock(asio::use_future).get();
    expect_refused(kind, {kind});
    EXPECT_TRUE(lock.is_locked());
    held.unlock();
}

TEST_P(OneName, OfALeasedSemaphoreIsRefusedToOtherKinds) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::permit);
    const std::string kind = words_for(lock_kind::permit);
    leased_semaphore permits{*other_, "n"};
    ASSERT_TRUE(permits.try_set_permits(3));
    std::optional<lease> held = permits.try_acquire(2);
    ASSERT_TRUE(held);
    expect_refused(kind, {kind});
    EXPECT_EQ(permits.available_permits(), 1);
    EXPECT_EQ(permits.acquired_permits(), 2);
    held->unlock();
}

TEST_P(OneName, OfALatchOrASemaphoreIsRefusedToOtherKinds) {
    HOLDFAST_NEEDS_LOCKS(counter_kind::latch);
    const std::string kind = words_for(counter_kind::latch);
    latch gate{*other_, "n"};
    ASSERT_TRUE(gate.try_set_count(3));
    // Redis keeps all three as a number.
    if (GetParam().has(counter_kind::semaphore))
        expect_refused(
            kind, {kind, words_for(counter_kind::semaphore), words_for(counter_kind::permits)});
    else
        expect_refused(kind, {kind});
    EXPECT_EQ(gate.count(), 3);
}

TEST_P(OneName, OfARateLimiterIsRefusedToOtherKinds) {
    HOLDFAST_NEEDS_LOCKS(counter_kind::rate);
    const std::string kind = words_for(counter_kind::rate);
    rate_limiter limiter{*other_, "n"};
    limiter.set_rate({.permits = 5, .per = 1h});
    expect_refused(kind, {kind});
    EXPECT_EQ(limiter.available_permits(), 5);
}

TEST_P(OneName, IsFreeForAnyKindWhenTheFirstHasGone) {
    holdfast_mutex lock{*other_, "n"};
    lease held = lock.async_lock(asio::use_future).get();
    held.unlock();
    if (shared_) {
        EXPECT_TRUE(shared_->try_lock_shared());
        shared_->unlock_shared();
        EXPECT_TRUE(plain_->try_lock());
        plain_->unlock();
    }
    if (leased_ && !store().leases_by_session()) {
        EXPECT_TRUE(leased_->try_set_permits(1));
        EXPECT_TRUE(leased_->erase());
        EXPECT_TRUE(plain_->try_lock());
        plain_->unlock();
    }
}

HOLDFAST_ON_EACH_STORE(OneName);

} // namespace
} // namespace holdfast::conformance
