// SPDX-License-Identifier: Apache-2.0
// A leader that the others do not hear goes on answering for seconds, and says that the sessions of
// its clients are there. Who holds a lock at it must not believe that. In the order of what
// happens, so that a slow machine changes nothing.
#include "runtime/real_clock.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_ensemble.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::zookeeper_ensemble;
using support::zookeeper_server;

class LeaderCutOff : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            all_ = std::make_unique<zookeeper_ensemble>(
                support::zookeepers().back(), zookeeper_ensemble::options::slow_to_notice());
        });
    }

    client client_at(const std::vector<zookeeper_server*>& servers, duration session) {
        zookeeper::options at;
        at.servers.clear();
        for (const zookeeper_server* each : servers)
            at.servers.push_back({"127.0.0.1", each->port()});
        at.command_timeout = 300ms; // so that it asks again soon
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.lease_time = session;
        return client{std::move(how)};
    }

    /// Somebody waits for the lock at the other servers, and has it then: until when the holder
    /// believed in it must be over.
    class successor {
    public:
        successor(client& of, const lease& before)
            : before_{before}
            , lock_{of, "lock"} {
            auto handler = [to = granted_](const error_code& ec, lease got) {
                to->at = runtime::machine_time();
                if (ec)
                    to->whole.set_exception(
                        std::make_exception_ptr(boost::system::system_error{ec}));
                else
                    to->whole.set_value(std::move(got));
            };
            lock_.async_lock(std::move(handler));
        }
        void look() {
            const time_point now = runtime::machine_time();
            if (const duration left = before_.remaining(); left > duration::zero())
                believed_ = std::max(believed_, now + left);
        }
        void expect_holder_to_give_up() {
            EXPECT_TRUE(eventually([this] {
                look();
                return !before_.owns_lock();
            }));
        }
        lease granted_after_it() {
            EXPECT_TRUE(eventually([this] {
                look();
                return support::is_ready(waits_);
            }));
            lease got = soon(std::move(waits_));
            EXPECT_LE(believed_, granted_->at)
                << "for " << (believed_ - granted_->at).count() << " ms two held it";
            EXPECT_FALSE(before_.owns_lock());
            EXPECT_GT(got.fencing_token(), before_.fencing_token());
            return got;
        }

    private:
        struct grant {
            std::promise<lease> whole{};
            time_point at{};
        };
        const lease& before_;
        fenced_mutex lock_;
        time_point believed_ = time_point::min();
        std::shared_ptr<grant> granted_ = std::make_shared<grant>(); // the handler's too
        std::future<lease> waits_ = granted_->whole.get_future();
    };

    /// The old leader is one of the others again, and its client sees what they do.
    void expect_busy(fenced_mutex& lock, const lease& before, const lease& now) {
        bool taken = true;
        EXPECT_TRUE(eventually([&] {
            EXPECT_FALSE(before.owns_lock());
            try {
                taken = lock.try_lock();
                return true;
            } catch (const boost::system::system_error&) {
                return false; // not there yet
            }
        }));
        EXPECT_FALSE(taken && now.owns_lock());
    }

    std::unique_ptr<zookeeper_ensemble> all_;
};

TEST_F(LeaderCutOff, ItsClientDoesNotHoldBesideAnother) {
    zookeeper_server& leader = all_->leader();
    client home = client_at({&leader}, 2s), other = client_at(all_->all_but(leader), 8s);
    fenced_mutex lock{home, "lock"};
    const lease held = soon(lock.async_lock(asio::use_future));
    successor next{other, held};
    ASSERT_TRUE(eventually([&] { return home.inspect("lock")->waiters.size() == 1; }));
    all_->cut_off(leader);
    next.expect_holder_to_give_up();
    EXPECT_EQ(leader.mode(), "leader") << "it can keep nothing alone, though it answers";
    const lease theirs = next.granted_after_it();
    all_->restore();
    expect_busy(lock, held, theirs);
}

TEST_F(LeaderCutOff, ALeaderThatStoodStillMeanwhileGivesNothingBack) {
    zookeeper_server& leader = all_->leader();
    const std::vector<zookeeper_server*> followers = all_->all_but(leader);
    client home = client_at({&leader}, 2s), other = client_at(followers, 8s);
    fenced_mutex lock{home, "lock"};
    const lease held = soon(lock.async_lock(asio::use_future));
    successor next{other, held};
    ASSERT_TRUE(eventually([&] { return home.inspect("lock")->waiters.size() == 1; }));
    for (zookeeper_server* each : followers)
        each->pause();
    next.expect_holder_to_give_up();
    EXPECT_EQ(leader.mode(), "leader") << "it can keep nothing alone, though it answers";
    leader.pause();
    for (zookeeper_server* each : followers)
        each->resume();
    const lease theirs = next.granted_after_it();
    leader.resume();
    expect_busy(lock, held, theirs);
}

} // namespace
} // namespace holdfast
