// SPDX-License-Identifier: Apache-2.0
#include "mysql/seats.hpp"

#include <algorithm>

namespace holdfast::mysql {

/// Returns the free connection with the most recent use. Surplus connections thus stay idle.
seats::place seats::take_free() {
    place best;
    for (const place& each : all_)
        if (each->free() && !each->to_wait_on &&
            (!best || each->at->heard_at() > best->at->heard_at()))
            best = each;
    if (best)
        best->taken = true;
    return best;
}

seats::place seats::take(const place& named) {
    if (named->taken)
        return nullptr;
    named->taken = true;
    return named;
}

seats::place seats::take_spare() {
    const auto found = std::ranges::find_if(
        all_, [](const place& each) { return each->to_wait_on && each->free(); });
    if (found == all_.end())
        return nullptr;
    (*found)->kept = true;
    return *found;
}

void seats::give_back(const place& one) {
    one->taken = false;
    if (one->at->is_cut()) {
        drop(one);
        return;
    }
    if (!one->named.empty())
        hand(one->named, one);
    else if (!one->apart() && !one->to_wait_on && !shared_.empty())
        hand(shared_, one);
}

void seats::hand(queue& to, const place& one) {
    waiting& first = to.front();
    to.pop_front();
    one->taken = true;
    first.got = one;
    first.wake->ring();
}

bool seats::drop(const place& one) {
    if (std::erase(all_, one) == 0)
        return false;
    fail(one->named, std::make_shared<const net::failure>(errc::unreachable,
                                                          "not sent: its connection has ended"));
    return true;
}

void seats::fail(queue& all, const std::shared_ptr<const net::failure>& why) {
    while (!all.empty()) {
        waiting& first = all.front();
        all.pop_front();
        first.failed = why;
        first.wake->ring();
    }
}

void seats::fail_shared(const net::failure& why) {
    fail(shared_, std::make_shared<const net::failure>(why));
}

void seats::fail_all(const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    fail(shared_, shared);
    for (const place& each : all_)
        fail(each->named, shared);
}

std::size_t seats::shared_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all_, [](const place& each) { return !each->to_wait_on; }));
}

std::size_t seats::to_wait_on_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(all_, [](const place& each) { return each->to_wait_on; }));
}

} // namespace holdfast::mysql
