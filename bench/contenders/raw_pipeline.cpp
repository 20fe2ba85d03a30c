// SPDX-License-Identifier: Apache-2.0
// The yardstick of coroutines: one thread, one connection, a loop of read() and write() around
// hiredis' reader. Whatever has answered asks its next question with the same write.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/requests.hpp"

#include <array>
#include <queue>
#include <stdexcept>

#include <unistd.h>

namespace holdfast::bench {
namespace {

/// One lock, taken and released over and over.
struct flight {
    flight(int i, const connection& to)
        : wire{i, to} {}
    requests wire;
    bool held = false;
    stopwatch::time_point begin;
};

class pipeline : public contender {
public:
    explicit pipeline(const arena& where)
        : connection_{where.connect()} {
        for (int i = 0; i < where.at_once; ++i)
            flights_.emplace_back(i, connection_);
    }

    tally run(nanoseconds length) override {
        tally all;
        all.samples.reserve(1 << 20); // no growth while it is measured
        const auto begin = stopwatch::now();
        for (flight& one : flights_)
            take_off(one, begin);
        while (!asked_.empty()) {
            write_all();
            read_some();
            for (reply answer; (answer = next_reply());)
                go_on(*answer, begin + length, all);
        }
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        return all;
    }

private:
    void take_off(flight& one, stopwatch::time_point now) {
        one.begin = now;
        one.wire.append_lock(out_);
        asked_.push(&one);
    }

    void go_on(const redisReply& answer, stopwatch::time_point end, tally& all) {
        expect_answer(*connection_, &answer);
        flight& one = *asked_.front();
        asked_.pop();
        one.held = !one.held;
        if (one.held) {
            requests::expect_granted(answer);
            one.wire.append_release(out_);
            asked_.push(&one);
            return;
        }
        requests::expect_released(answer);
        const auto now = stopwatch::now();
        all.samples.push_back(now - one.begin);
        if (now < end)
            take_off(one, now);
    }

    void write_all() {
        for (std::size_t done = 0; done < out_.size();) {
            const auto written = ::write(connection_->fd, out_.data() + done, out_.size() - done);
            if (written < 0)
                throw std::runtime_error{"the connection broke while writing"};
            done += static_cast<std::size_t>(written);
        }
        out_.clear();
    }

    void read_some() {
        const auto size = ::read(connection_->fd, in_.data(), in_.size());
        if (size <= 0)
            throw std::runtime_error{"the connection broke while reading"};
        redisReaderFeed(connection_->reader, in_.data(), static_cast<std::size_t>(size));
    }

    reply next_reply() {
        void* raw = nullptr;
        if (redisReaderGetReply(connection_->reader, &raw) != REDIS_OK)
            throw std::runtime_error{connection_->reader->errstr};
        return reply{static_cast<redisReply*>(raw)};
    }

    connection connection_;
    std::vector<flight> flights_;
    std::queue<flight*> asked_; // in the order in which the server answers
    std::string out_;
    std::array<char, 64 * 1024> in_;
};

} // namespace

made raw_pipeline(const arena& where) {
    return std::make_unique<pipeline>(where);
}

} // namespace holdfast::bench
