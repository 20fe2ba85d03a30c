// SPDX-License-Identifier: Apache-2.0
// A lock on several servers in a program with an event loop. There is a client for each server. All
// clients are on the loop's executor, and one thread runs everything.
#include "bench/contenders/nodes.hpp"
#include "bench/contenders/sampled.hpp"

#include <holdfast/client.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <exception>
#include <limits>

namespace holdfast::bench {
namespace {

/// Time until all cleanup is over. A request without a reply is released a second time, when the
/// server can no longer carry it out.
constexpr auto settles_within = std::chrono::seconds{5};

asio::awaitable<void> majorities(quorum_mutex& lock, stopwatch::time_point end, sampled what,
                                 tally& all) {
    for (auto begin = stopwatch::now(); begin < end; begin = stopwatch::now()) {
        lease held = co_await lock.async_lock(asio::use_awaitable);
        const auto taken = stopwatch::now();
        co_await held.async_unlock(asio::use_awaitable);
        all.samples.push_back(sample_of(what, begin, taken));
    }
}

class voters : public contender {
public:
    voters(const arena& where, const std::vector<const server*>& living, sampled what,
           const std::string& dead = {}, lock_kind kind = lock_kind::plain)
        : books_{living}
        , what_{what} {
        for (const server* node : living)
            add_client(where.url_of(*node));
        if (!dead.empty())
            add_client(dead);
        majority_ = static_cast<long long>(clients_.size()) / 2 + 1;
        const quorum_mutex::nodes all{clients_.begin(), clients_.end()};
        // `nodes_remember` is true, because the servers were just started and cannot have lost a
        // lock.
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(all, name_of_lock(i),
                                quorum_options{.kind = kind, .nodes_remember = true});
    }

    ~voters() override {
        std::size_t left = clients_.size();
        for (client& each : clients_)
            each.async_close([&](error_code) {
                if (--left == 0)
                    loop_.stop();
            });
        run_loop();
    }

    tally run(nanoseconds length) override {
        books_.clear();
        tally all;
        all.samples.reserve(1 << 20); // no reallocation while measuring
        std::exception_ptr failure;
        std::size_t left = locks_.size();
        const auto begin = stopwatch::now();
        for (quorum_mutex& lock : locks_)
            asio::co_spawn(loop_, majorities(lock, begin + length, what_, all),
                           [&](std::exception_ptr e) {
                               if (e)
                                   failure = e;
                               if (--left == 0)
                                   // Needed because the clients always have a pending read.
                                   loop_.stop();
                           });
        run_loop();
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        if (failure)
            std::rethrow_exception(failure);
        settle();
        books_.expect(2 * majority_ * all.done);
        return all;
    }

    /// Returns no limits, because a single node may run any number of scripts. A node that is still
    /// busy with a pair is not asked for the next pair. A late grant is released once more. run()
    /// checks the statistics of all nodes together.
    claim scripts_for(const tally&) const override {
        return {0, std::numeric_limits<long long>::max()};
    }

private:
    void add_client(const std::string& url) {
        clients_.emplace_back(loop_.get_executor(),
                              options{.url = url, .executor_is_serial = true});
    }
    void run_loop() {
        loop_.restart();
        loop_.run();
    }

    /// Waits for the release of the grants that arrived after the majority.
    void settle() {
        const auto limit = stopwatch::now() + settles_within;
        do {
            loop_.restart();
            loop_.run_for(std::chrono::milliseconds{10});
        } while (!books_.keys().empty() && stopwatch::now() < limit);
    }

    asio::io_context loop_{1};
    books_of_nodes books_;
    const sampled what_;
    long long majority_ = 0;
    std::deque<client> clients_; // a deque does not move its elements
    std::deque<quorum_mutex> locks_;
};

made taking(const arena& where, int count) {
    return std::make_unique<voters>(where, nodes(where, count), sampled::lock);
}

} // namespace

made holdfast_quorum_3(const arena& where) {
    return taking(where, 3);
}

made holdfast_quorum_5(const arena& where) {
    return taking(where, 5);
}

made holdfast_quorum_5_one_dead(const arena& where) {
    const std::string address_of_nobody = where.url_of(server{});
    return std::make_unique<voters>(where, nodes(where, 4), sampled::lock, address_of_nobody);
}

made holdfast_quorum_pairs(const arena& where) {
    return std::make_unique<voters>(where, nodes(where, 5), sampled::pair);
}

made holdfast_quorum_token_pairs(const arena& where) {
    return std::make_unique<voters>(where, nodes(where, 5), sampled::pair, std::string{},
                                    lock_kind::token);
}

} // namespace holdfast::bench
