// SPDX-License-Identifier: Apache-2.0
// docs/security in a cluster: the two files are enough for every type, and what is missing is named
// by whoever misses it.
#include "support/acl_file.hpp"
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <functional>
#include <memory>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::redis_cluster;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using rules = std::vector<std::string>;

class ClusterRights : public support::on_each_topology<redis_cluster> {
protected:
    void grant(const rules& all) {
        for (std::size_t i = 0; i < servers().size(); ++i)
            ASSERT_EQ(servers().node(i).command(support::acl_setuser("app", "its", all)).text,
                      "OK");
    }

    client connect() {
        redis::options where = servers().client_options();
        where.user = "app";
        where.password = "its";
        holdfast::options how;
        how.store = redis::make_store(where);
        how.unavailable_patience = 100ms;
        how.observer = told_;
        return client{std::move(how)};
    }

    /// What a lock says whose release another client waits for, and what the observer is told.
    std::string said_by_lock(const std::string& name) {
        told_->clear();
        client first = connect(), second = connect();
        mutex mine{first, name}, others{second, name};
        std::string said = support::thrown_by([&] {
                               mine.lock();
                               (void)others.try_lock_for(50ms);
                               mine.unlock();
                               (void)mine.force_unlock();
                           }).text;
        first.close();
        second.close();
        for (const support::told& each : told_->all())
            said += each.text + "\n";
        return said;
    }

    rules both_ = [] {
        rules all = support::rules_of_acl_file("app:");
        for (std::string& each : support::rules_of_acl_file("app:", "cluster.acl"))
            all.push_back(std::move(each));
        return all;
    }();
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterRights);

TEST_P(ClusterRights, AreEnoughForEveryType) {
    grant(both_);
    client first = connect(), second = connect();
    const auto in_turns = [](auto& mine, auto& others) {
        mine.lock();
        EXPECT_FALSE(others.try_lock_for(20ms));
        mine.unlock();
        EXPECT_TRUE(others.try_lock_for(5s));
        others.unlock();
    };
    const std::vector<std::function<void()>> all{
        [&] { mutex a{first, "app:a"}, b{second, "app:a"}; in_turns(a, b); },
        [&] { fair_mutex a{first, "app:{b}"}, b{second, "app:{b}"}; in_turns(a, b); },
        [&] { fenced_mutex a{first, "app:c"}, b{second, "app:c"}; in_turns(a, b); },
        [&] { shared_mutex a{first, "app:d"}, b{second, "app:d"}; in_turns(a, b); },
        [&] {
            shared_mutex a{first, "app:e"}, b{second, "app:e"};
            in_turns(a.shared(), b);
        },
        [&] { spin_mutex a{first, "app:f"}, b{second, "app:f"}; in_turns(a, b); },
        [&] { token_mutex a{first, "app:g"}, b{second, "app:g"}; in_turns(a, b); },
        [&] {
            counting_semaphore seats{first, "app:h"};
            EXPECT_TRUE(seats.try_set_permits(1));
            seats.acquire();
            seats.release();
            EXPECT_TRUE(seats.erase());
        },
        [&] {
            latch gate{first, "app:i"};
            EXPECT_TRUE(gate.try_set_count(1));
            gate.count_down();
            gate.wait();
        },
        [&] {
            leased_semaphore seats{first, "app:j"};
            EXPECT_TRUE(seats.try_set_permits(1));
            seats.acquire().unlock();
            (void)seats.erase();
        },
        [&] {
            rate_limiter mails{first, "app:k"};
            EXPECT_TRUE(mails.try_set_rate({.permits = 5, .per = 1min}));
            mails.acquire();
            (void)mails.erase();
        }};
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_THAT(support::thrown_by(all[i]).text, IsEmpty()) << "number " << i;
    EXPECT_EQ(told_->count(event_kind::impaired), 0u) << told_->last(event_kind::impaired)->text;
}

TEST_P(ClusterRights, ThatAreMissingAreNamed) {
    const rules silent{"+asking", "+sunsubscribe", "+pubsub|shardnumsub"};
    for (const std::string& taken : support::rules_of_acl_file("app:", "cluster.acl")) {
        rules rest = both_;
        ASSERT_EQ(std::erase(rest, taken), 1u);
        grant(rest);
        const std::string said = said_by_lock("app:stock");
        if (std::ranges::count(silent, taken) > 0)
            EXPECT_THAT(said, Not(HasSubstr("granted"))) << "without " << taken;
        else
            EXPECT_THAT(said, AllOf(HasSubstr("granted: "), HasSubstr(taken))) << "without " << taken;
    }
}

TEST_P(ClusterRights, AreNotNeededForPlainMessages) {
    rules rest = both_;
    for (const char* const each : {"+spublish", "+ssubscribe", "+sunsubscribe"})
        ASSERT_EQ(std::erase(rest, each), 1u);
    grant(rest);
    redis::options where = servers().client_options();
    where.user = "app";
    where.password = "its";
    where.pubsub = redis::pubsub_form::plain;
    holdfast::options how;
    how.store = redis::make_store(where);
    how.observer = told_;
    client first{how}, second{how};
    mutex mine{first, "app:stock"}, others{second, "app:stock"};
    EXPECT_THAT(support::thrown_by([&] {
                    mine.lock();
                    (void)others.try_lock_for(50ms);
                    mine.unlock();
                }).text,
                IsEmpty());
    EXPECT_EQ(told_->count(event_kind::impaired), 0u);
}

} // namespace
} // namespace holdfast
