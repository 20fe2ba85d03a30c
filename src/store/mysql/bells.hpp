// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::mysql {

/// Releases the user lock of this lock on that connection, in the background. Cuts the connection
/// if the release fails.
void ring_off(site&, const lock_name&, std::shared_ptr<carrier> on);

/// Table of this client's holds that also hold a user lock (GET_LOCK), with the connection of each
/// user lock. The user lock notifies the next waiter. It is only a notification: a waiter always
/// asks the lock's row too.
class bells {
public:
    /// `at` must outlive the table.
    explicit bells(site& at)
        : at_{at} {}

    /// Stores that the connection holds the user lock of this hold until `until`. `extend` changes
    /// that time.
    void keep(const hold&, std::shared_ptr<carrier>, time_point until);
    void extend(const hold&, time_point until);

    /// Removes the entry and returns its connection. The caller releases the lock and the user lock
    /// on that connection. Null: no entry.
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
