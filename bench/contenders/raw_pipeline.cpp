// SPDX-License-Identifier: Apache-2.0
// Yardsticks of coroutines: one thread, and one connection with the same number of pending
// requests. On a cluster there is one connection to each primary, and the slots are known.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/raw_line.hpp"
#include "redis/topology/slot_map.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>

#include <poll.h>

namespace holdfast::bench {
namespace {

class raw_lines : public contender {
public:
    void add(connection to, const std::vector<int>& locks, raw_manner how = {}) {
        lines_.emplace_back(std::move(to), locks, how);
    }

    tally run(nanoseconds length) override {
        tally all;
        all.samples.reserve(1 << 20); // no reallocation while measuring
        const auto begin = stopwatch::now();
        for (raw_line& each : lines_)
            each.begin();
        while (std::ranges::any_of(lines_, &raw_line::is_busy)) {
            for (raw_line& each : lines_)
                each.write_all();
            for (raw_line* const each : readable())
                each->read_some(begin + length, all);
        }
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        return all;
    }

private:
    /// Returns the connections that can be read now. A single connection is returned without
    /// poll(), because its read() waits.
    std::vector<raw_line*> readable() {
        if (lines_.size() == 1)
            return {&lines_.front()};
        std::vector<pollfd> sockets;
        for (const raw_line& each : lines_)
            sockets.push_back({.fd = each.socket(), .events = POLLIN, .revents = 0});
        while (::poll(sockets.data(), sockets.size(), -1) < 0)
            if (errno != EINTR)
                throw std::system_error{errno, std::generic_category(), "poll"};
        std::vector<raw_line*> found;
        for (std::size_t i = 0; i < sockets.size(); ++i)
            if (sockets[i].revents)
                found.push_back(&lines_[i]);
        return found;
    }

    std::vector<raw_line> lines_;
};

std::vector<int> numbers_to(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

made on_one_line(const arena& where, raw_manner how = {}) {
    auto one = std::make_unique<raw_lines>();
    one->add(where.connect(), numbers_to(where.at_once), how);
    return one;
}

/// Returns the locks in the slots of this primary. The primary itself is asked for its slots.
std::vector<int> locks_of(const connection& primary, int count) {
    const reply ranges = ask(primary, {"CLUSTER", "SLOTS"});
    const reply itself = ask(primary, {"CLUSTER", "MYID"});
    const std::string_view id{itself->str, itself->len};
    std::vector<int> locks;
    for (int lock = 0; lock < count; ++lock)
        for (std::size_t i = 0; i < ranges->elements; ++i) {
            const redisReply& range = *ranges->element[i];
            const redisReply& owner = *range.element[2]->element[2];
            const int slot = redis::key_slot(name_of_lock(lock));
            if (std::string_view{owner.str, owner.len} == id && range.element[0]->integer <= slot &&
                slot <= range.element[1]->integer)
                locks.push_back(lock);
        }
    return locks;
}

} // namespace

made raw_pipeline(const arena& where) {
    return on_one_line(where);
}

made raw_pipeline_confirmed_by_one(const arena& where) {
    return on_one_line(where, {.replicas = 1});
}

made raw_pipeline_confirmed_by_two(const arena& where) {
    return on_one_line(where, {.replicas = 2});
}

made raw_slots(const arena& where) {
    auto all = std::make_unique<raw_lines>();
    for (connection& each : connect_to_primaries(where.group.value())) {
        const std::vector<int> locks = locks_of(each, where.at_once);
        all->add(std::move(each), locks, {.telling = "spublish"});
    }
    return all;
}

} // namespace holdfast::bench
