// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::mysql {

/// Releases the user lock that belongs to the lock, on that connection, in the background. If that
/// fails, cuts the connection.
void ring_off(site&, const lock_name&, std::shared_ptr<carrier> on);

/// Table of this client's holds that also have the user lock (GET_LOCK) which notifies the next
/// waiter, with the connection that has it. User locks are only notifications: a waiter always asks
/// the lock's row.
class bells {
public:
    /// `at` must outlive the table.
    explicit bells(site& at)
        : at_{at} {}

    /// Notes that the connection has the user lock of the hold until `until`, unless `extend` moves
    /// that.
    void keep(const hold&, std::shared_ptr<carrier>, time_point until);
    void extend(const hold&, time_point until);

    /// Removes the entry and returns its connection, for a release that also releases the user
    /// lock. Null: there is none.
    std::shared_ptr<carrier> take_out(const hold&);

    /// Releases the user lock of a lost hold, or cuts its connection.
    void drop(const hold&);

    /// Releases the user locks of holds that have expired without a release.
    void drop_old();

private:
    struct kept {
        std::shared_ptr<carrier> on;
        time_point until;
    };
    using key = std::pair<std::string, std::uint64_t>;
    static key key_of(const hold& held) { return {held.name.text, held.owner.number}; }
    void give_back(const std::string& name, std::shared_ptr<carrier>);

    site& at_;
    std::map<key, kept> all_;
    time_point next_check_{};
};

} // namespace holdfast::mysql
