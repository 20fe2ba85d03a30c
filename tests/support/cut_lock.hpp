// SPDX-License-Identifier: Apache-2.0
// Base of tests that cut a client's connection at each byte of its traffic. In all cases the lock
// must be taken once and released once.
#pragma once

#include "support/recorder.hpp"
#include "support/stream_proxy.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::support {

/// Lock that two clients use while the test cuts the connection of one of them. The fixture of each
/// store makes the clients.
class cut_lock {
protected:
    /// `timeout` is the time within which another client must get the lock after a release.
    explicit cut_lock(duration timeout)
        : timeout_{timeout} {}
    ~cut_lock() = default;

    /// Sets the clients and the lock. `home` must use the proxy for all its traffic, and report its
    /// events to `told_`. `other` must not use the proxy.
    void use(client home, client other, const lock_name& name) {
        home_.emplace(std::move(home));
        other_.emplace(std::move(other));
        lock_.emplace(*home_, name);
        same_.emplace(*other_, name);
        lock_->lock(); // the first request opens the connection
        lock_->unlock();
    }
    client& other() { return *other_; }

    /// Checks further properties of the lock while it is held.
    virtual void look_at_held() {}

    /// Runs `talk` again and again, with a cut after 0 bytes in the first run, after `step` bytes
    /// in the second, and so on, until a run ends before its cut.
    template <typename Talk>
    void cut_everywhere(std::size_t step, Talk talk) {
        std::size_t cuts = 0;
        for (bool was_cut = true; was_cut && !::testing::Test::HasFailure(); ++cuts) {
            SCOPED_TRACE("cut after byte " + std::to_string(cuts * step));
            was_cut = talk(cuts * step);
        }
        EXPECT_GT(cuts, 5U);
        EXPECT_EQ(told_->count(event_kind::lost), 0U);
    }
    bool lock_cut(way where, std::size_t bytes) {
        proxy_->cut_after(where, bytes);
        lock_->lock();
        const bool was_cut = proxy_->is_cut();
        proxy_->cut_after(way::requests, never);
        EXPECT_GT(lock_->fencing_token(), token_);
        token_ = lock_->fencing_token();
        EXPECT_FALSE(same_->try_lock());
        look_at_held();
        lock_->unlock();
        return others_can_have_it() && was_cut;
    }
    bool unlock_cut(way where, std::size_t bytes) {
        lock_->lock();
        proxy_->cut_after(where, bytes);
        error_code failed;
        lock_->unlock(failed);
        EXPECT_FALSE(failed) << failed.message();
        const bool was_cut = proxy_->is_cut();
        proxy_->cut_after(way::requests, never);
        return others_can_have_it() && was_cut;
    }

    const std::shared_ptr<recorder> told_ = std::make_shared<recorder>();
    std::optional<stream_proxy> proxy_;

private:
    bool others_can_have_it() {
        const bool got = same_->try_lock_for(timeout_);
        EXPECT_TRUE(got);
        if (!got)
            return false;
        EXPECT_GT(same_->fencing_token(), token_);
        token_ = same_->fencing_token();
        same_->unlock();
        return true;
    }

    static constexpr std::size_t never = 1'000'000'000;
    const duration timeout_;
    std::optional<client> home_, other_;
    std::optional<fenced_mutex> lock_, same_;
    std::uint64_t token_ = 0;
};

} // namespace holdfast::support
