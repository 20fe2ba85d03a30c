// SPDX-License-Identifier: Apache-2.0
// A connection that ends at each byte of what is said over it [N4, N5, N6, N9]. Whatever was
// carried out: the lock is taken once, and released once.
#include "chaos/on_proxy.hpp"

namespace holdfast::chaos {
namespace {

class Cut : public on_proxy {
protected:
    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        lock_.emplace(*home_, "L");
        lock_->lock();
        lock_->unlock();
    }

    /// Cuts after no byte, after one, and so on, until `talk` got through uncut.
    template <typename Talk>
    void cut_at_each_byte(way where, Talk talk) {
        std::size_t cuts = 0;
        for (bool was_cut = true; was_cut && !HasFailure(); ++cuts) {
            proxy().cut_after(where, cuts);
            SCOPED_TRACE("cut after byte " + std::to_string(cuts));
            was_cut = talk();
        }
        EXPECT_GT(cuts, shortest_talk);
        EXPECT_EQ(told_->count(event_kind::lost), 0u);
    }

    bool lock_cut() {
        lock_->lock();
        const bool was_cut = proxy().is_cut();
        EXPECT_EQ(owners(), 1);
        proxy().cut_after(way::requests, never);
        lock_->unlock();
        EXPECT_TRUE(is_free());
        return was_cut;
    }
    bool unlock_cut(way where, std::size_t bytes) {
        proxy().cut_after(way::requests, never);
        lock_->lock();
        proxy().cut_after(where, bytes);
        error_code failed;
        lock_->unlock(failed);
        EXPECT_FALSE(failed) << failed.message();
        EXPECT_TRUE(is_free());
        return proxy().is_cut();
    }

    static constexpr std::size_t never = 1'000'000'000, shortest_talk = 5;
    std::optional<client> home_;
    std::optional<mutex> lock_;
};
HOLDFAST_ON_EACH_SERVER(Cut);

TEST_P(Cut, ALockThatIsAskedForAtEachByteIsTakenOnce) {
    cut_at_each_byte(way::requests, [this] { return lock_cut(); });
}

TEST_P(Cut, ALockThatIsGrantedAtEachByteIsTakenOnce) {
    cut_at_each_byte(way::answers, [this] { return lock_cut(); });
}

TEST_P(Cut, AReleaseThatIsAskedForAtEachByteIsDone) {
    std::size_t bytes = 0;
    cut_at_each_byte(way::requests, [&] { return unlock_cut(way::requests, bytes++); });
}

TEST_P(Cut, AReleaseThatIsAcknowledgedAtEachByteIsDone) {
    std::size_t bytes = 0;
    cut_at_each_byte(way::answers, [&] { return unlock_cut(way::answers, bytes++); });
}

} // namespace
} // namespace holdfast::chaos
