// SPDX-License-Identifier: Apache-2.0
// Runs COUNT pairs of lock and unlock, so that valgrind can count the instructions. Usage: `pairs
// URL WAY COUNT`, where WAY is `blocking` or `coroutines`. The program uses only the public API, so
// it compiles with older revisions of the library, too.
#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::bench {
namespace {

constexpr auto name = "bench:0";

/// Returns options without busy polling: the number of a polling thread's instructions would depend
/// on the speed of the server.
options quiet(const std::string& url) {
    return {.url = url + "?polling=0us&announce=no", .executor_is_serial = true};
}

void block(const std::string& url, long count) {
    client one{quiet(url)};
    mutex lock{one, name};
    for (long i = 0; i < count; ++i) {
        lock.lock();
        lock.unlock();
    }
}

asio::awaitable<void> pairs(client& one, long count) {
    mutex lock{one, name};
    for (long i = 0; i < count; ++i) {
        lease held = co_await lock.async_lock(asio::use_awaitable);
        co_await held.async_unlock(asio::use_awaitable);
    }
    co_await one.async_close(asio::use_awaitable);
}

void resume(const std::string& url, long count) {
    asio::io_context loop{1};
    client one{loop.get_executor(), quiet(url)};
    asio::co_spawn(loop, pairs(one, count), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    loop.run();
}

} // namespace
} // namespace holdfast::bench

int main(int argc, char** argv) try {
    if (argc != 4)
        throw std::runtime_error{"usage: pairs URL blocking|coroutines COUNT"};
    const std::string url = argv[1];
    const long count = std::strtol(argv[3], nullptr, 10);
    if (std::string_view{argv[2]} == "blocking")
        holdfast::bench::block(url, count);
    else
        holdfast::bench::resume(url, count);
} catch (const std::exception& trouble) {
    std::fprintf(stderr, "pairs: %s\n", trouble.what());
    return EXIT_FAILURE;
}
