// SPDX-License-Identifier: Apache-2.0
// Helpers for tests that work with the library's internal `hold` objects: lists of them, the hold
// of a lease, and the results of a renewal.
#pragma once

#include "sync/held_lock.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/store.hpp>

#include <optional>
#include <vector>

namespace holdfast::support {

/// Returns pointers to the holds, in the form that a store needs.
inline std::vector<const hold*> listed(const std::vector<hold>& holds) {
    std::vector<const hold*> list;
    for (const hold& each : holds)
        list.push_back(&each);
    return list;
}

/// Returns the held lock inside a lease. The lease must be of one lock, not of several.
inline const sync::held_lock& wire_hold_of(const lease& held) {
    return dynamic_cast<const sync::held_lock&>(*held.hold());
}

/// Sink that stores the results of a renewal.
class renewal_record final : public renewal_sink {
public:
    explicit renewal_record(std::size_t holds)
        : said(holds)
        , failures(holds) {}

    void renewed(std::size_t which, const answer& got) override { said.at(which) = got; }
    void failed(std::size_t which, const boost::system::system_error& why) override {
        failures.at(which) = why;
    }

    std::vector<std::optional<answer>> said;
    std::vector<std::optional<boost::system::system_error>> failures;
};

/// Renews the holds. Returns the store's answer for each, in the order of the list. Throws the
/// first failure.
inline asio::awaitable<std::vector<answer>> renewed(lock_store& store, hold_list holds,
                                                    duration lease_time) {
    renewal_record record{holds.size()};
    const renewal_options how{.lease_time = lease_time};
    co_await store.renew(holds, how, record);
    std::vector<answer> answers;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (record.failures[i])
            throw boost::system::system_error{*record.failures[i]};
        answers.push_back(record.said[i].value());
    }
    co_return answers;
}

} // namespace holdfast::support
