// SPDX-License-Identifier: Apache-2.0
// The host name of a server has no address for a while, and then has another address.
#include "chaos/on_proxy.hpp"
#include "support/host_names.hpp"

#include <boost/asio/use_future.hpp>

#include <future>

namespace holdfast::chaos {
namespace {

using support::set_address;

class HostNames : public on_proxy {
protected:
    HostNames()
        : on_proxy{{.tcp = true}} {}

    static constexpr const char* host = "locks.test";
    static constexpr const char* nobody = "127.77.77.77"; // this machine's too, and not the server

    client by_name(duration address_check = 0ms) {
        return client{
            towards({.host = host, .port = server().port(), .address_check = address_check})};
    }

    /// Waits for the server to be found; and then it has the lock.
    void expect_taken_after(const std::function<void()>& found) {
        client home = by_name();
        mutex lock{home, "L"};
        auto taken = std::async(std::launch::async, [&] { lock.lock(lease_time{1min}); });
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
        found();
        soon(std::move(taken));
        EXPECT_EQ(owners(), 1);
    }
};
HOLDFAST_ON_EACH_SERVER(HostNames);

// [N17]
TEST_P(HostNames, ThatAreNotFoundForAWhileAreAskedForAgain) {
    set_address(host, "");
    expect_taken_after([] { set_address(host, "127.0.0.1"); });
}

// [N17]
TEST_P(HostNames, ThatChangeAreFollowedAtTheNextConnection) {
    set_address(host, nobody);
    expect_taken_after([] { set_address(host, "127.0.0.1"); });
}

// [N17]
TEST_P(HostNames, ThatChangeDoNotDisturbAConnectionThatIsThere) {
    set_address(host, "127.0.0.1");
    client home = by_name();
    mutex lock{home, "L"};
    lock.lock();
    set_address(host, nobody);
    EXPECT_TRUE(lock.is_locked());
    lock.unlock();
    EXPECT_EQ(told_->count(event_kind::disconnected), 0u);
}

/// Another server on the same port of another address.
class HostNamesOfTwo : public HostNames {
protected:
    static constexpr const char* elsewhere = "127.0.0.2";

    void SetUp() override {
        HostNames::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        set_address(host, "127.0.0.1");
        other_ = std::make_unique<support::redis_server>(
            GetParam(), support::redis_server::options{.tcp = true,
                                                       .arguments = {"--bind", elsewhere},
                                                       .port = server().port()});
    }
    bool is_at_other(const std::string& name) {
        return other_->command({"EXISTS", name}).integer == 1;
    }
    void expect_moved() {
        EXPECT_TRUE(eventually([&] { return told_->count(event_kind::moved) > 0; }));
        const support::told last = told_->last(event_kind::moved).value();
        EXPECT_EQ(last.name, std::string{elsewhere} + ":" + std::to_string(server().port()));
        EXPECT_EQ(last.text, "the name locks.test");
    }

    std::unique_ptr<support::redis_server> other_;
};
HOLDFAST_ON_EACH_SERVER(HostNamesOfTwo);

TEST_P(HostNamesOfTwo, ThatLeadElsewhereTakeTheLocksFromAServerThatGoesOn) {
    client home = by_name(10ms);
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    set_address(host, elsewhere);
    expect_moved();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::refused);
    server().command({"CONFIG", "RESETSTAT"});
    for (int i = 0; i < 20; ++i) { // over the shared connection, and over a blocking connection
        lock.lock();
        EXPECT_TRUE(is_at_other("L"));
        lock.unlock();
    }
    EXPECT_THAT(server().command({"INFO", "commandstats"}).text,
                ::testing::Not(::testing::HasSubstr("evalsha")));
    EXPECT_EQ(told_->count(event_kind::moved), 1u);
}

TEST_P(HostNamesOfTwo, ThatLeadElsewhereTakeWaitersAlong) {
    client holder = by_name(), home = by_name(10ms);
    mutex theirs{holder, "L"}, lock{home, "L"};
    theirs.lock(lease_time{10min});
    auto taken = std::async(std::launch::async, [&] { lock.lock(lease_time{1min}); });
    ASSERT_TRUE(eventually([&] {
        return server().command({"PUBSUB", "CHANNELS"}).items.size() == 1;
    }));
    set_address(host, elsewhere);
    soon(std::move(taken));
    EXPECT_TRUE(is_at_other("L"));
    expect_moved();
    theirs.unlock();
}

TEST_P(HostNamesOfTwo, ThatLeadElsewhereAreFollowedWhenTheServerDies) {
    client home = by_name();
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    set_address(host, elsewhere);
    server().stop();
    lock.lock();
    EXPECT_TRUE(is_at_other("L"));
    lock.unlock();
    expect_moved();
}

} // namespace
} // namespace holdfast::chaos
