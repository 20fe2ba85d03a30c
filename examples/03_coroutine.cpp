// SPDX-License-Identifier: Apache-2.0
// How to use locks in coroutines. The lock belongs to a lease object, and not to a thread.
#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;

// Ten of these coroutines run at once on one thread. Each waits for the lock without blocking the
// thread.
asio::awaitable<void> take_a_turn(holdfast::mutex& turnstile, int& inside, int& passed) {
    holdfast::lease held = co_await turnstile.async_lock(asio::use_awaitable);
    if (++inside != 1)
        throw std::logic_error{"two inside at once"};
    std::cout << "coroutine " << ++passed << " of 10 is inside, alone\n";
    --inside;
    // Waits until the server has released the lock. The destructor of `held` would release the lock
    // without waiting.
    co_await held.async_unlock(asio::use_awaitable);
}

void rethrow(std::exception_ptr thrown) {
    if (thrown)
        std::rethrow_exception(thrown);
}

int main() {
    asio::io_context loop;
    holdfast::client client{"memory:coroutine"}; // has its own background thread
    holdfast::mutex turnstile{client, "turnstile"};

    int inside = 0;
    int passed = 0;
    for (int i = 0; i < 10; ++i)
        asio::co_spawn(loop, take_a_turn(turnstile, inside, passed), rethrow);
    loop.run(); // runs the coroutines on this thread
    return passed == 10 ? 0 : 1;
}
