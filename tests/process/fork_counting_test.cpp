// SPDX-License-Identifier: Apache-2.0
// In a child of fork() the parent's counters are as dead as its locks.
#include "process/with_server.hpp"
#include "support/counter_verbs.hpp"

#include <memory>

namespace holdfast::process {
namespace {

class ForkedCounters : public with_server {
protected:
    void SetUp() override {
        with_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        options how = quick(url());
        how.lease_time = 600ms;
        home_.emplace(how);
        my_ = std::make_unique<support::counters>(*home_);
        my_->seats.try_set_permits(3);
        my_->leases.set_permits(3);
        my_->gate.try_set_count(3);
        my_->mails.set_rate({.permits = 3, .per = 1h});
        held_ = my_->leases.acquire(2);
    }

    static void expect_forked(findings& found, const support::counter_verbs& verbs) {
        for (const auto& [name, verb] : verbs)
            found.expect(verb(), errc::forked, name);
    }
    /// The child has changed nothing, and the parent goes on.
    void expect_unharmed() {
        const auto end = [this] { return std::chrono::steady_clock::now() + held_.remaining(); };
        EXPECT_TRUE(eventually([end, before = end()] { return end() > before + 100ms; }))
            << "the permits are not renewed any more";
        EXPECT_EQ(my_->seats.available_permits(), 3);
        EXPECT_EQ(my_->leases.available_permits(), 1);
        EXPECT_EQ(my_->gate.count(), 3);
        EXPECT_EQ(my_->mails.available_permits(), 3);
        held_.unlock();
        EXPECT_EQ(my_->leases.available_permits(), 3);
    }

    std::optional<client> home_;
    std::unique_ptr<support::counters> my_;
    lease held_;
};

TEST_F(ForkedCounters, AnswerForkedToWhoeverBlocks) {
    const std::string wrong = found_by_fork(
        [&](findings& found) { expect_forked(found, support::blocking_counter_verbs(*my_)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

TEST_F(ForkedCounters, AnswerForkedToWhoeverDoesNot) {
    const std::string wrong = found_by_fork(
        [&](findings& found) { expect_forked(found, support::asynchronous_counter_verbs(*my_)); });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

TEST_F(ForkedCounters, AreDestroyedInTheChildAndStayInTheParent) {
    const std::string wrong = found_by_fork([&](findings& found) {
        held_ = lease{};
        my_.reset();
        home_.emplace(quick(url()));
        counting_semaphore fresh{*home_, "fresh"};
        fresh.release();
        found.expect(fresh.try_acquire(), "what the child made is of no use");
    });
    EXPECT_EQ(wrong, "");
    expect_unharmed();
}

} // namespace
} // namespace holdfast::process
