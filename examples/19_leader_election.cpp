// SPDX-License-Identifier: Apache-2.0
// How to elect a leader. All processes that could lead wait for the same lock, and the process that
// holds the lock is the leader. Start this program several times, and end the one that leads:
//
//     19_leader_election redis://127.0.0.1:6379 node-1
//
// Without a second argument, it shows a restart of two candidates in one process.
#include <holdfast/holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

class candidate {
public:
    candidate(std::string name, const std::string& url)
        : name_{std::move(name)}
        , client_{url} {}

    // Waits for the leadership, leads until it is lost, and waits again. Ends when it is cancelled;
    // the destructor of the lease then gives the leadership back.
    asio::awaitable<void> take_part() {
        for (;;) {
            auto [failure, term] =
                co_await election_.async_lock(asio::as_tuple(asio::use_awaitable));
            if (failure == asio::error::operation_aborted)
                co_return;
            if (failure) { // the server has been away for longer than `unavailable_timeout`
                std::cerr << name_ << ": " << failure.message() << std::endl;
                co_await pause(1s);
                continue;
            }
            token_ = term.fencing_token();
            std::cout << name_ << " leads with token " << token_ << std::endl;
            co_await lead(term);
            std::cout << name_ << " has lost the leadership" << std::endl;
        }
    }

    std::uint64_t token() const { return token_; } // of the last time as the leader; 0: never

private:
    // Does the work of a leader in short steps, until another process may be the leader. Everything
    // that the leader changes outside this process should check the token.
    asio::awaitable<void> lead(const holdfast::lease& term) {
        while (term) // only reads the clock
            co_await pause(10ms);
    }

    static asio::awaitable<void> pause(asio::steady_timer::duration length) {
        asio::steady_timer timer{co_await asio::this_coro::executor, length};
        co_await timer.async_wait(asio::use_awaitable);
    }

    const std::string name_;
    holdfast::client client_;
    // Tokens grow even if the server loses its data.
    holdfast::fenced_mutex election_{client_, "leader", {.numbers = holdfast::fencing::dated}};
    std::uint64_t token_ = 0;
};

asio::awaitable<void> until_a_signal() {
    asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM};
    co_await signals.async_wait(asio::use_awaitable);
}

asio::awaitable<void> until_it_leads(const candidate& who) {
    asio::steady_timer timer{co_await asio::this_coro::executor};
    while (who.token() == 0) {
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

// The first candidate leads and then ends, as in a rolling restart. Then the second one leads.
asio::awaitable<void> restart(candidate& first, candidate& second) {
    co_await (first.take_part() || until_it_leads(first));
    co_await (second.take_part() || until_it_leads(second));
}

void rethrow(std::exception_ptr thrown) {
    if (thrown)
        std::rethrow_exception(thrown);
}

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const std::string url = count > 1 ? values[1] : environment ? environment : "memory:leader";
    asio::io_context loop;
    if (count > 2) {
        candidate here{values[2], url};
        co_spawn(loop, here.take_part() || until_a_signal(),
                 [](std::exception_ptr thrown, auto) { rethrow(thrown); });
        loop.run();
        return 0;
    }

    candidate first{"first", url};
    candidate second{"second", url};
    co_spawn(loop, restart(first, second), rethrow);
    loop.run();
    std::cout << "The second leader has the greater token.\n";
    return first.token() < second.token() ? 0 : 1;
}
