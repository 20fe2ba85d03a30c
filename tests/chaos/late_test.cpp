// SPDX-License-Identifier: Apache-2.0
// Requests that are carried out late: nobody may find the lock taken by who has gone.
#include "chaos/on_proxy.hpp"

namespace holdfast::chaos {
namespace {

class Late : public on_proxy {
protected:
    Late()
        : on_proxy{{.arguments = {"--enable-debug-command", "yes"}}} {}

    /// Waits no longer than for one answer, and leaves at once.
    static options impatient(options how) {
        how.unavailable_patience = 1ms;
        how.close_patience = 0ms;
        return how;
    }

    /// The server's clock is known to the client then, and its scripts to the server.
    void get_acquainted(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        lock.unlock();
        server().command({"CONFIG", "RESETSTAT"});
    }

    /// Takes one lock after the other until that fails, since nobody answers in time. From then on
    /// a request is on its way that nobody waits for.
    void lock_until_nobody_answers(client& home) {
        support::thrown why;
        for (; !why.code; ++granted_) {
            mutex lock{home, "L" + std::to_string(granted_)};
            why = thrown_by([&] { lock.lock(); });
        }
        --granted_;
        EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    }

    /// When the server has come to the request that nobody waited for.
    void expect_no_ghost() {
        ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > granted_; }));
        EXPECT_EQ(calls_of("hset"), granted_) << "a lock was taken for nobody";
        EXPECT_TRUE(is_free("L" + std::to_string(granted_)));
    }

private:
    std::int64_t granted_ = 0;
};
HOLDFAST_ON_EACH_SERVER(Late);

// [N4]
TEST_P(Late, ARequestThatIsHeldUpOnTheWayTakesNoLock) {
    client home{impatient(through_proxy())};
    get_acquainted(home);
    proxy().hold_back();
    lock_until_nobody_answers(home);
    home.close();
    EXPECT_GT(proxy().bytes_held(), 0u);
    proxy().let_go();
    expect_no_ghost();
}

// [S19]
TEST_P(Late, AServerThatHoldsClientsBackTakesNoLockAfterwards) {
    client home{impatient(directly())};
    get_acquainted(home);
    server().command({"CLIENT", "PAUSE", "600", "ALL"});
    lock_until_nobody_answers(home);
    expect_no_ghost();
}

// [S28]
TEST_P(Late, AServerThatStallsTakesNoLockAfterwards) {
    client home{impatient(directly())};
    get_acquainted(home);
    support::redis_connection sleepless{server().socket_path()};
    sleepless.begin({"DEBUG", "SLEEP", "0.6"});
    lock_until_nobody_answers(home);
    expect_no_ghost();
}

// [S3]
TEST_P(Late, AServerThatIsStoppedForAWhileTakesNoLockAfterwards) {
    client home{impatient(directly())};
    get_acquainted(home);
    server().pause();
    lock_until_nobody_answers(home);
    server().resume();
    expect_no_ghost();
}

} // namespace
} // namespace holdfast::chaos
