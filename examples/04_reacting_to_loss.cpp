// SPDX-License-Identifier: Apache-2.0
// How to stop work when a lock is lost. A distributed lock can be lost while you hold it. For
// example, an operator removes the lock, or the server is away for longer than the lease.
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

// Long work in small steps. It ends early if a stop is requested, and then returns true.
bool work(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any step;
    std::unique_lock lock{mutex};
    for (int i = 0; i < 1000 && !stop.stop_requested(); ++i)
        step.wait_for(lock, stop, 10ms, [] { return false; });
    return stop.stop_requested();
}

int main() {
    // This server in memory stands for Redis, and can simulate faults.
    std::atomic<bool> cable_cut = false;
    holdfast::memory::server server;
    holdfast::client client{{.store = server.connect([&](const holdfast::memory::request&) {
        return holdfast::memory::fate{.refused = cable_cut};
    })}};
    holdfast::mutex nightly{client, "nightly-job", holdfast::lease_time{600ms}};

    // lost() returns a std::stop_token, which works like the token of a std::jthread. A stop is
    // requested when another client may have the lock.
    holdfast::lease held = nightly.async_lock(asio::use_future).get();
    std::cout << "We have the lock, for " << held.remaining().count()
              << " ms if it is not renewed. The server forgets it ..." << std::endl;
    server.evict("nightly-job");
    const bool stopped = work(held.lost()); // the next renewal notices the loss
    std::cout << (stopped ? "... and the work was stopped.\n" : "... and nobody noticed?\n");

    // unlock() cannot throw. This overload reports whether the lock was lost.
    holdfast::error_code outcome;
    held.unlock(outcome);
    std::cout << "unlock() says: " << outcome.message() << '\n';

    // The token of in_danger() is stopped earlier: when renewals fail and the lease ends soon. We
    // still have the lock then, so there is time to save the work.
    held = nightly.async_lock(asio::use_future).get();
    std::cout << "We have the lock again. The server cannot be reached ..." << std::endl;
    cable_cut = true;
    const bool warned = work(held.in_danger());
    std::cout << "... and we are warned " << (held ? "while the lock is still ours.\n" : "late?\n");
    cable_cut = false;
    return stopped && outcome == holdfast::errc::lease_lost && warned ? 0 : 1;
}
