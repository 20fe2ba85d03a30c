// SPDX-License-Identifier: Apache-2.0
// Yardstick of a lock on several servers: a bare socket to each server. It sends the request to all
// servers at once, and waits for the replies of a majority.
#include "bench/contenders/nodes.hpp"
#include "bench/contenders/requests.hpp"
#include "bench/contenders/threads.hpp"

#include <cerrno>
#include <system_error>

#include <poll.h>

namespace holdfast::bench {
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

    /// Measures lock calls. A sample is the time from sending the requests until a majority has
    /// replied. The other replies and the releases on all nodes are awaited too, but are not
    /// measured.
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

    /// Waits until at most `most` replies are missing. Nodes that have replied are not polled
    /// again.
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
