// SPDX-License-Identifier: Apache-2.0
// holdfast in a program with an event loop: one client on the loop's executor, and many coroutines.
// Like the yardstick, it uses one thread.
#include "bench/contenders/arena.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <exception>

namespace holdfast::bench {
namespace {

asio::awaitable<void> pairs(mutex& lock, stopwatch::time_point end, tally& all) {
    for (auto begin = stopwatch::now(); begin < end;) {
        lease held = co_await lock.async_lock(asio::use_awaitable);
        co_await held.async_unlock(asio::use_awaitable);
        const auto now = stopwatch::now();
        all.samples.push_back(now - begin);
        begin = now;
    }
}

class clients_coroutines : public contender {
public:
    explicit clients_coroutines(const arena& where)
        : client_{loop_.get_executor(), options{.url = where.url(), .executor_is_serial = true}} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(client_, name_of_lock(i));
    }

    ~clients_coroutines() override {
        client_.async_close([this](error_code) { loop_.stop(); });
        run_loop();
    }

    tally run(nanoseconds length) override {
        tally all;
        all.samples.reserve(1 << 20); // no reallocation while measuring
        std::exception_ptr failure;
        std::size_t left = locks_.size();
        const auto begin = stopwatch::now();
        for (mutex& lock : locks_)
            asio::co_spawn(loop_, pairs(lock, begin + length, all), [&](std::exception_ptr e) {
                if (e)
                    failure = e;
                if (--left == 0)
                    loop_.stop(); // needed because the client always has a pending read
            });
        run_loop();
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        if (failure)
            std::rethrow_exception(failure);
        return all;
    }

private:
    void run_loop() {
        loop_.restart();
        loop_.run();
    }

    asio::io_context loop_{1};
    client client_;
    std::deque<mutex> locks_; // a deque does not move its elements
};

} // namespace

made holdfast_coroutines(const arena& where) {
    return std::make_unique<clients_coroutines>(where);
}

made holdfast_coroutines_at_one_node(const arena& where) {
    arena alone = where;
    alone.group->url = "redis://127.0.0.1:" + std::to_string(where.group->ports.front());
    return std::make_unique<clients_coroutines>(alone);
}

made holdfast_coroutines_telling_shards(const arena& where) {
    arena sharded = where;
    sharded.query = "?pubsub=sharded";
    return std::make_unique<clients_coroutines>(sharded);
}

} // namespace holdfast::bench
