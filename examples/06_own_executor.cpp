// SPDX-License-Identifier: Apache-2.0
// A client on the program's own threads instead of one more: here a pool of two.
#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <iostream>
#include <vector>

namespace asio = boost::asio;

// On such a client only the asynchronous verbs: a blocking one, called on the pool, would wait for
// the very threads that have to finish it. It throws `errc::would_deadlock` instead.
asio::awaitable<void> add(holdfast::mutex& lock, int& sum, int number) {
    holdfast::lease held = co_await lock.async_lock(asio::use_awaitable);
    sum += number; // coroutines on both threads, and one at a time here
    co_await held.async_unlock(asio::use_awaitable);
}

int main() {
    asio::thread_pool pool{2};
    holdfast::client client{pool.get_executor(), {.url = "memory:executor"}};
    holdfast::mutex lock{client, "sum"};

    int sum = 0;
    std::vector<std::future<void>> all;
    for (int number = 1; number <= 100; ++number)
        all.push_back(asio::co_spawn(pool, add(lock, sum, number), asio::use_future));
    for (std::future<void>& each : all)
        each.get();
    std::cout << "1 + 2 + ... + 100 = " << sum << '\n';

    // A destructor never waits on somebody else's threads, so say when it shall be closed.
    client.async_close(asio::use_future).get();
    pool.join();
    return sum == 5050 ? 0 : 1;
}
