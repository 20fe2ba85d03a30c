// SPDX-License-Identifier: Apache-2.0
// A distributed lock can be lost while it is held: somebody removed it, or the server was away for
// longer than the lease. Work that must not go on then listens to the lease.
#include <holdfast/holdfast.hpp>
#include <holdfast/memory/server.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stop_token>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Long work in small steps, which ends early when it is told to: true then.
bool work(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any step;
    std::unique_lock lock{mutex};
    for (int i = 0; i < 1000 && !stop.stop_requested(); ++i)
        step.wait_for(lock, stop, 10ms, [] { return false; });
    return stop.stop_requested();
}

int main() {
    // Stands for Redis, and can be made to misbehave.
    std::atomic<bool> cable_cut = false;
    holdfast::memory::server server;
    holdfast::client client{{.store = server.connect([&](const holdfast::memory::request&) {
        return holdfast::memory::fate{.refused = cable_cut};
    })}};
    holdfast::mutex nightly{client, "nightly-job", holdfast::lease_time{600ms}};

    // lost() is a std::stop_token, and goes wherever the token of a std::jthread goes. Stop is
    // requested when the lock can be somebody else's.
    holdfast::lease held = nightly.async_lock(asio::use_future).get();
    std::cout << "We have the lock, for " << held.remaining().count()
              << " ms if it is not renewed. The server forgets it ..." << std::endl;
    server.evict("nightly-job");
    const bool stopped = work(held.lost()); // the next renewal finds out
    std::cout << (stopped ? "... and the work was stopped.\n" : "... and nobody noticed?\n");

    // unlock() cannot throw. This form tells what became of the lock.
    holdfast::error_code outcome;
    held.unlock(outcome);
    std::cout << "unlock() says: " << outcome.message() << '\n';

    // in_danger() comes earlier: renewals fail, and the end is near. The lock is still ours, so
    // there is time to save what there is.
    held = nightly.async_lock(asio::use_future).get();
    std::cout << "We have the lock again. The server cannot be reached ..." << std::endl;
    cable_cut = true;
    const bool warned = work(held.in_danger());
    std::cout << "... and we are warned " << (held ? "while the lock is still ours.\n" : "late?\n");
    cable_cut = false;
    return stopped && outcome == holdfast::errc::lease_lost && warned ? 0 : 1;
}
