// SPDX-License-Identifier: Apache-2.0
// A client that runs on the program's own threads: here a pool of two threads.
#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <iostream>
#include <vector>

namespace asio = boost::asio;

// Use only the asynchronous functions with such a client. A blocking call on a thread of the pool
// would wait for the threads that have to complete it, so it throws `errc::would_deadlock`.
asio::awaitable<void> add(holdfast::mutex& lock, int& sum, int number) {
    holdfast::lease held = co_await lock.async_lock(asio::use_awaitable);
    sum += number; // the lock lets only one coroutine at a time run this line
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

    // The destructor does not wait for a user's executor, so close the client explicitly.
    client.async_close(asio::use_future).get();
    pool.join();
    return sum == 5050 ? 0 : 1;
}
