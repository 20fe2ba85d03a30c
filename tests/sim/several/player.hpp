// SPDX-License-Identifier: Apache-2.0
// Coroutine of a simulated program that takes several locks as one, any of several locks, or one
// lock, and does with them what users may do.
#pragma once

#include "sim/door.hpp"
#include "sim/several/script.hpp"
#include "sim/several/under_way.hpp"

#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace holdfast::sim::several {

class player {
public:
    player(realm&, int program, int number, const script&, time_point end);

    asio::awaitable<void> live(); ///< runs until the time `end`
    /// takes all locks once; each call must succeed within `bound`
    asio::awaitable<void> take_each(duration bound);
    int program() const { return program_; }
    bool done() const { return done_; }

private:
    /// Several lock objects, and the object that combines them. They may be destroyed as soon as an
    /// operation has begun.
    struct thing {
        std::vector<std::unique_ptr<door>> parts{};
        std::optional<multi_mutex> all{};
        std::optional<quorum_mutex> most{};
        way how = way::single;
        std::vector<spot> of{};
        duration lease{};
        std::vector<int> generations{}; ///< generations of the clients of the lock objects
        basic_mutex& lock();
    };

    deal deal_on(const thing&, deed) const;
    std::unique_ptr<thing> build(way, std::vector<spot>);
    std::unique_ptr<thing> build_any_of_them();
    std::vector<spot> draw_spots(int count);
    void draw_timeout(deal&);
    cancellation draw_cancellation();
    asio::awaitable<void> take_and_hold();
    asio::awaitable<void> use(thing&, hands&);
    asio::awaitable<void> re_enter(thing&, hands&);
    asio::awaitable<void> ask(thing&);
    asio::awaitable<void> force();
    asio::awaitable<void> take_once(std::unique_ptr<thing>, duration bound);
    asio::awaitable<void> nap(duration);
    client& at(int server) { return *realm_.at(program_, server).at; }

    realm& realm_;
    const int program_, number_;
    const script& plan_;
    const time_point end_;
    dice dice_;
    bool done_ = false;
};

} // namespace holdfast::sim::several
