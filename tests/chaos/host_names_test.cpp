// SPDX-License-Identifier: Apache-2.0
// A server's name that leads nowhere for a while, and then somewhere else.
#include "chaos/host_names.hpp"
#include "chaos/on_proxy.hpp"

#include <future>

namespace holdfast::chaos {
namespace {

class HostNames : public on_proxy {
protected:
    HostNames()
        : on_proxy{{.tcp = true}} {}

    static constexpr const char* host = "locks.test";
    static constexpr const char* nobody = "127.77.77.77"; // this machine's too, and not the server

    client by_name() { return client{towards({.host = host, .port = server().port()})}; }

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

} // namespace
} // namespace holdfast::chaos
