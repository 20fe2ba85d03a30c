// SPDX-License-Identifier: Apache-2.0
// A lock on ZooKeeper, where a lock lasts as long as its client's session. A JVM with Curator uses
// the same lock at the path /holdfast/nightly-report.
//
//     18_on_zookeeper 'zk://zk1,zk2,zk3?lease_time=12s'
//
// Choose a lease time of four times the longest outage that locks have to survive
// (docs/guarantees.md says why). Without a URL, the example uses a server in its own memory that
// also keeps locks by session.
#include <holdfast/holdfast.hpp>
#include <holdfast/memory/server.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const std::string_view url = count > 1 ? values[1] : environment ? environment : "";

    holdfast::memory::server server; // stands for ZooKeeper
    server.keep_by_session(12s);
    holdfast::options how;
    if (url.starts_with("zk://"))
        how.url = url;
    else
        how.store = server.connect();
    holdfast::client client{how};

    holdfast::fenced_mutex report{client, "nightly-report"};
    if (!report.try_lock_for(10s)) {
        std::cout << "Another one writes the report.\n";
        return 0;
    }
    std::cout << "The report is ours, with token " << report.fencing_token() << ".\n";
    report.unlock();

    // A fixed lease time: this client's clock ends the lease, and the client then releases the
    // lock. If the client dies before, others wait until its session has ended.
    const bool briefly = report.try_lock_for(1s, holdfast::lease_time{100ms});
    holdfast::client other{how};
    holdfast::mutex theirs{other, "nightly-report"};
    theirs.lock();
    std::cout << (briefly ? "We had it for 100 ms; then it was somebody else's.\n" : "Busy?\n");
    theirs.unlock();
    holdfast::error_code lost;
    report.unlock(lost);
    return briefly && lost == holdfast::errc::lease_lost ? 0 : 1;
}
