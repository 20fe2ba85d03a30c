// SPDX-License-Identifier: Apache-2.0
// A primary that is cut off from the others, while clients still reach both sides.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;
using support::redis_server;
using support::soon;
using support::thrown_by;

class IsolatedPrimary : public support::on_each_topology<redis_cluster> {
protected:
    IsolatedPrimary()
        : on_each_topology{{.can_be_cut = true}} {}

    holdfast::options how(unsigned replicas, duration lease = 3s) {
        redis::options where = servers().client_options();
        where.replica_timeout = 100ms;
        holdfast::options made;
        made.store = redis::make_store(where);
        made.lease_time = lease;
        made.required_replicas = replicas;
        made.unavailable_patience = support::far_too_long;
        made.observer = seen_;
        return made;
    }
    redis_server& keeper() { return servers().node_of("L"); }
    static std::int64_t exists(redis_server& at, const std::string& name) {
        return at.command({"EXISTS", name}).integer;
    }
    void await_replica() { ASSERT_EQ(keeper().command({"WAIT", "1", "5000"}).integer, 1); }
    void isolate() {
        old_ = &keeper();
        servers().cut(*old_, support::partition::clients::pass);
    }
    void await_election() {
        support::until("another keeps it", [&] { return &keeper() != old_; });
    }

    event_cause cause_of_loss() const {
        support::until("a loss is told", [&] { return seen_->count(event_kind::lost) > 0; });
        return seen_->last(event_kind::lost)->cause;
    }

    redis_server* old_ = nullptr;
    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(IsolatedPrimary);

TEST_P(IsolatedPrimary, WhatItAloneHasIsLostWhenAnotherIsElectedAndItsHolderIsToldSo) {
    client home{how(0, 30s)}, other{how(0, 30s)};
    mutex known{home, "L"}, alone{home, "{L}alone"}, theirs{other, "{L}alone"};
    const lease kept = soon(known.async_lock(asio::use_future));
    await_replica();
    isolate();
    const lease gone = soon(alone.async_lock(asio::use_future));
    EXPECT_EQ(exists(*old_, "{L}alone"), 1) << "it does not know yet";
    await_election();
    const lease taken = soon(theirs.async_lock(asio::use_future));
    EXPECT_EQ(exists(keeper(), "{L}alone"), 1);
    EXPECT_TRUE(eventually([&] { return gone.lost().stop_requested(); }));
    EXPECT_EQ(cause_of_loss(), event_cause::refused)
        << "the new one says so, and not only the clock";
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_FALSE(taken.lost().stop_requested());
}

TEST_P(IsolatedPrimary, GrantsAndRenewsNothingWhereItsReplicaMustHaveIt) {
    client home{how(1)}, other{how(1)};
    mutex lock{home, "L"}, alone{home, "{L}alone"}, apart{home, "{L}apart"}, theirs{other, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    isolate();
    EXPECT_EQ(thrown_by([&] { (void)alone.try_lock(); }).code, errc::outcome_unknown);
    EXPECT_EQ(thrown_by([&] { (void)apart.try_lock(lease_time{1h}); }).code, errc::outcome_unknown);
    auto waiting = theirs.async_lock(asio::use_future);
    await_election(); // and the new one has no replica
    while (!held.lost().stop_requested())
        ASSERT_FALSE(support::is_ready(waiting)) << "there are two holders";
    EXPECT_EQ(cause_of_loss(), event_cause::term_ended);
    EXPECT_FALSE(support::is_ready(waiting));
    servers().heal(); // then the old one is its replica
    const lease next = soon(std::move(waiting));
    EXPECT_EQ(exists(keeper(), "L"), 1);
}

// Until its client asks for the map again, two believe: it renews nothing, and so nobody tells it.
TEST_P(IsolatedPrimary, AFixedLeaseThatItAloneGaveIsLostToo) {
    client home{how(0)}, other{how(0)};
    mutex lock{home, "L"}, theirs{other, "L"};
    isolate();
    const lease given = soon(lock.async_lock(lease_time{1h}, asio::use_future));
    await_election();
    const lease taken = soon(theirs.async_lock(asio::use_future));
    EXPECT_TRUE(eventually([&] { return given.lost().stop_requested(); }));
    EXPECT_EQ(cause_of_loss(), event_cause::refused);
    EXPECT_FALSE(taken.lost().stop_requested());
}

} // namespace
} // namespace holdfast
