// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.hpp"

#include "support/holds.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::sim {

claim::claim(subject w, lease l, duration asked, std::string stands_on, unsigned replicas)
    : who{w}
    , held{std::move(l)}
    , owner{held.owner()}
    , hold{held.hold().get()}
    // lease::permit_ids() is not called, because it would prevent a hand-over of the permits
    , permits{held.hold()->permit_ids()}
    , reads{support::wire_hold_of(held).what.kind == lock_kind::read}
    , beside{std::move(stands_on)}
    , wants{replicas}
    , longest{asked} {}

const char* spelled(deed d) {
    constexpr std::array words{"lock",
                               "try_lock",
                               "try_lock_for",
                               "acquire",
                               "wait",
                               "upgrade",
                               "lock_shared(lease)",
                               "lock(lease)",
                               "extend",
                               "unlock",
                               "is_locked",
                               "remaining_lease",
                               "force_unlock",
                               "release",
                               "add_permits",
                               "drain_permits",
                               "try_set_permits",
                               "count_down",
                               "try_set_count",
                               "erase",
                               "value",
                               "set_permits",
                               "release(id)",
                               "set_lease",
                               "set_rate",
                               "release(rate)",
                               "close"};
    return words.at(static_cast<std::size_t>(d));
}

const char* spelled(outcome o) {
    constexpr std::array words{"done",
                               "nothing",
                               "cancelled",
                               "unreachable",
                               "outcome_unknown",
                               "lease_lost",
                               "not_owner",
                               "closed",
                               "clock_unstable",
                               "overloaded",
                               "refused",
                               "would_deadlock",
                               "an error it should not have"};
    return words.at(static_cast<std::size_t>(o));
}

outcome meaning_of(const error_code& ec) {
    if (!ec)
        return outcome::done;
    if (ec == asio::error::operation_aborted)
        return outcome::cancelled;
    constexpr std::array meanings{
        std::pair{errc::unreachable, outcome::unreachable},
        std::pair{errc::outcome_unknown, outcome::outcome_unknown},
        std::pair{errc::lease_lost, outcome::lease_lost},
        std::pair{errc::not_owner, outcome::not_owner},
        std::pair{errc::closed, outcome::closed},
        std::pair{errc::clock_unstable, outcome::clock_unstable},
        std::pair{errc::overloaded, outcome::overloaded},
        std::pair{errc::refused, outcome::refused},
        std::pair{errc::would_deadlock, outcome::would_deadlock},
    };
    for (const auto& [code, meaning] : meanings)
        if (ec == code)
            return meaning;
    return outcome::other;
}

bool ledger::claimed(const std::string& owner) const {
    return std::any_of(claims_.begin(), claims_.end(),
                       [&](const claim* c) { return c->owner == owner; });
}

bool ledger::believed_of(const std::string& owner) const {
    return std::any_of(claims_.begin(), claims_.end(),
                       [&](const claim* c) { return c->owner == owner && c->held.owns_lock(); });
}

} // namespace holdfast::sim
