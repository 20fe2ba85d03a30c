// SPDX-License-Identifier: Apache-2.0
// A connection that ends somewhere in what is said over it. Whatever was carried out: the lock is
// taken once, and released once.
#include "mysql/store_fixture.hpp"
#include "support/recorder.hpp"
#include "support/stream_proxy.hpp"

#include <optional>

namespace holdfast::mysql {
namespace {

using support::way;

class MysqlCut : public on_store {
protected:
    void SetUp() override {
        on_store::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        proxy_.emplace(server().socket_path());
        options through = reaching(server());
        through.unix_socket = proxy_->socket_path();
        through.connections_max = 1;
        through.backoff_max = 50ms;
        home_.emplace(client_of(through, {.observer = told_}));
        other_.emplace(make_client());
        lock_.emplace(*home_, name_);
        same_.emplace(*other_, name_);
        lock_->lock(); // there is a connection from here on
        lock_->unlock();
    }

    /// Cuts after no byte, after `step`, and so on, until `talk` got through uncut.
    template <typename Talk>
    void cut_everywhere(std::size_t step, Talk talk) {
        std::size_t cuts = 0;
        for (bool was_cut = true; was_cut && !HasFailure(); ++cuts) {
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

private:
    bool others_can_have_it() {
        const bool got = same_->try_lock_for(5s); // its lease is much longer
        EXPECT_TRUE(got);
        if (!got)
            return false;
        EXPECT_GT(same_->fencing_token(), token_);
        token_ = same_->fencing_token();
        same_->unlock();
        return true;
    }

    static constexpr std::size_t never = 1'000'000'000;
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::optional<support::stream_proxy> proxy_;
    std::optional<client> home_, other_;
    std::optional<fenced_mutex> lock_, same_;
    std::uint64_t token_ = 0;
};

TEST_F(MysqlCut, ALockThatIsAskedForIsTakenOnce) {
    cut_everywhere(89, [this](std::size_t bytes) { return lock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, ALockThatIsGrantedIsTakenOnce) {
    cut_everywhere(11, [this](std::size_t bytes) { return lock_cut(way::answers, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAskedForIsDone) {
    cut_everywhere(29, [this](std::size_t bytes) { return unlock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAcknowledgedIsDone) {
    cut_everywhere(17, [this](std::size_t bytes) { return unlock_cut(way::answers, bytes); });
}

} // namespace
} // namespace holdfast::mysql
