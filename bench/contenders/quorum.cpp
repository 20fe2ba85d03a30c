// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/quorum.hpp"

#include "bench/contenders/bare.hpp"

#include <holdfast/client.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <deque>
#include <exception>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <poll.h>

namespace holdfast::bench {

std::vector<const server*> nodes(const arena& where, int count) {
    std::vector<const server*> all{&where.home};
    for (int i = 1; i < count; ++i)
        all.push_back(&where.more.at(i - 1));
    return all;
}

books_of_nodes::books_of_nodes(const std::vector<const server*>& nodes) {
    for (const server* node : nodes)
        all_.emplace_back(node->connect(transport::unix_socket));
}

void books_of_nodes::clear() {
    for (accounts& each : all_)
        each.clear();
}

std::vector<std::string> books_of_nodes::keys() const {
    std::vector<std::string> left;
    for (const accounts& each : all_)
        for (std::string& key : each.keys())
            left.push_back(std::move(key));
    return left;
}

void books_of_nodes::expect(long long scripts) const {
    if (const std::vector<std::string> left = keys(); !left.empty())
        throw std::runtime_error{std::to_string(left.size()) + " keys are left on the nodes, '" +
                                 left.front() + "' among them"};
    long long counted = 0;
    for (const accounts& each : all_)
        counted += each.scripts_run();
    if (counted < scripts)
        throw std::runtime_error{"the nodes ran " + std::to_string(counted) +
                                 " scripts together, and not " + std::to_string(scripts)};
}

// holdfast's lock on several servers, in a program with an event loop. One thread runs the clients
// of all servers.

namespace {

/// Time until the clients have cleaned up. After a request without a reply, a client waits until
/// the server can no longer execute the request, and then releases the lock once more.
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
        // `nodes_remember` tells the lock that no node has lost its locks by a restart, so that it
        // need not wait for their leases to end. True here: the servers are new.
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
                                   // The clients' pending reads would keep the loop running.
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

    /// The number of scripts of one node has no limits, because a pair of lock and unlock needs
    /// only a majority of the nodes. run() checks the sum over all nodes.
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

    /// Gives the clients time to release late grants, which came after a majority had already
    /// granted the lock.
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

// Comparison program for a lock on several servers: it has a socket to each server, sends each
// request to all servers at once, and waits for the replies of a majority.

namespace {

/// Socket to one server, with at most one pending request.
class node_socket {
public:
    explicit node_socket(connection to)
        : connection_{std::move(to)}
        , requests_{0, connection_} {}

    pollfd readable() const { return {.fd = connection_->fd, .events = POLLIN, .revents = 0}; }

    void begin_lock() {
        text_.clear();
        requests_.append_lock(text_);
        send();
    }
    void begin_release() {
        text_.clear();
        requests_.append_release(text_);
        send();
    }

    /// Reads the available bytes. Returns null if the reply is not complete.
    reply read() {
        if (redisBufferRead(connection_.get()) != REDIS_OK)
            throw std::runtime_error{std::string{"the connection broke: "} + connection_->errstr};
        void* raw = nullptr;
        redisGetReplyFromReader(connection_.get(), &raw);
        reply answer{static_cast<redisReply*>(raw)};
        if (answer)
            expect_answer(*connection_, answer.get());
        return answer;
    }

private:
    void send() {
        redisAppendFormattedCommand(connection_.get(), text_.data(), text_.size());
        int done = 0;
        while (!done)
            if (redisBufferWrite(connection_.get(), &done) != REDIS_OK)
                throw std::runtime_error{std::string{"writing: "} + connection_->errstr};
    }

    connection connection_;
    requests requests_;
    std::string text_;
};

class bare_quorum : public contender {
public:
    explicit bare_quorum(const arena& where, int count)
        : majority_{static_cast<std::size_t>(count) / 2 + 1} {
        for (const server* node : nodes(where, count))
            sockets_.emplace_back(node->connect(where.way));
    }

    /// Takes and releases the lock again and again. A sample is the time from the sending of the
    /// requests until a majority has replied. The wait for the other replies and for the releases
    /// is not measured.
    tally run(nanoseconds length) override {
        tally all;
        const auto begin = stopwatch::now();
        do {
            all.samples.push_back(time_of([this] {
                for (node_socket& each : sockets_)
                    each.begin_lock();
                waiting_ = readables();
                wait_until_open(sockets_.size() - majority_, requests::expect_granted);
            }));
            wait_until_open(0, requests::expect_granted);
            for (node_socket& each : sockets_)
                each.begin_release();
            waiting_ = readables();
            wait_until_open(0, requests::expect_released);
            ++all.done;
        } while (stopwatch::now() < begin + length);
        all.elapsed = stopwatch::now() - begin;
        return all;
    }

private:
    std::vector<pollfd> readables() const {
        std::vector<pollfd> all;
        for (const node_socket& each : sockets_)
            all.push_back(each.readable());
        return all;
    }

    /// Waits until at most `most` replies are missing.
    void wait_until_open(std::size_t most, void (*expect)(const redisReply&)) {
        auto open = [this] {
            std::size_t left = 0;
            for (const pollfd& each : waiting_)
                left += each.fd >= 0 ? 1 : 0;
            return left;
        };
        while (open() > most) {
            if (::poll(waiting_.data(), waiting_.size(), -1) < 0 && errno != EINTR)
                throw std::system_error{errno, std::generic_category(), "poll"};
            for (std::size_t which = 0; which < waiting_.size(); ++which)
                if (waiting_[which].fd >= 0 && waiting_[which].revents)
                    if (const reply answer = sockets_[which].read()) {
                        expect(*answer);
                        waiting_[which].fd = -1;
                    }
        }
    }

    std::vector<node_socket> sockets_;
    std::vector<pollfd> waiting_;
    const std::size_t majority_;
};

} // namespace

made bare_nodes_3(const arena& where) {
    return std::make_unique<bare_quorum>(where, 3);
}

made bare_nodes_5(const arena& where) {
    return std::make_unique<bare_quorum>(where, 5);
}

} // namespace holdfast::bench
