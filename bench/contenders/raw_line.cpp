// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/raw_line.hpp"

#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace holdfast::bench {

raw_line::raw_line(connection to, const std::vector<int>& locks, raw_manner how)
    : connection_{std::move(to)}
    , how_{how}
    , in_(std::size_t{64} * 1024) {
    for (const int lock : locks)
        flights_.push_back({.wire{lock, connection_, how_.telling}});
}

void raw_line::begin() {
    const auto now = stopwatch::now();
    for (flight& one : flights_)
        take_off(one, now);
}

void raw_line::take_off(flight& one, stopwatch::time_point now) {
    one.begin = now;
    one.wire.append_lock(out_);
    asked_.push_back(&one);
}

void raw_line::write_all() {
    if (out_.empty())
        return;
    if (how_.replicas > 0) {
        append_wait(out_, how_.replicas);
        asked_.push_back(nullptr);
    }
    for (std::size_t done = 0; done < out_.size();) {
        const auto written = ::write(connection_->fd, out_.data() + done, out_.size() - done);
        if (written < 0)
            throw std::runtime_error{"the connection broke while writing"};
        done += static_cast<std::size_t>(written);
    }
    out_.clear();
}

void raw_line::read_some(stopwatch::time_point end, tally& all) {
    const auto size = ::read(connection_->fd, in_.data(), in_.size());
    if (size <= 0)
        throw std::runtime_error{"the connection broke while reading"};
    redisReaderFeed(connection_->reader, in_.data(), static_cast<std::size_t>(size));
    for (reply answer; (answer = next_reply());)
        hear(*answer, end, all);
}

void raw_line::hear(const redisReply& answer, stopwatch::time_point end, tally& all) {
    expect_answer(*connection_, &answer);
    flight* const one = asked_.front();
    asked_.pop_front();
    if (!one)
        return hear_confirmation(answer, end, all);
    (one->held ? requests::expect_released : requests::expect_granted)(answer);
    if (how_.replicas > 0)
        answered_.push_back(one);
    else
        go_on(*one, end, all);
}

void raw_line::hear_confirmation(const redisReply& answer, stopwatch::time_point end, tally& all) {
    expect_confirmed(answer, how_.replicas);
    for (flight* const one : std::exchange(answered_, {}))
        go_on(*one, end, all);
}

void raw_line::go_on(flight& one, stopwatch::time_point end, tally& all) {
    one.held = !one.held;
    if (one.held) {
        one.wire.append_release(out_);
        asked_.push_back(&one);
        return;
    }
    const auto now = stopwatch::now();
    all.samples.push_back(now - one.begin);
    if (now < end)
        take_off(one, now);
}

reply raw_line::next_reply() {
    void* raw = nullptr;
    if (redisReaderGetReply(connection_->reader, &raw) != REDIS_OK)
        throw std::runtime_error{connection_->reader->errstr};
    return reply{static_cast<redisReply*>(raw)};
}

} // namespace holdfast::bench
