// SPDX-License-Identifier: Apache-2.0
// Yardsticks of free locks on MariaDB. Each thread has a session, and sleeps until the reply
// arrives.
#include "bench/contenders/threads.hpp"
#include "bench/database/contenders.hpp"
#include "bench/database/database.hpp"
#include "bench/database/shed_lock.hpp"

#include <deque>
#include <stdexcept>

namespace holdfast::bench {
namespace {

/// User lock of MariaDB (GET_LOCK). It ends with its session, and exists only on this server.
class user_lock {
public:
    user_lock(const support::mariadb_server& where, const std::string& name, const std::string&)
        : session_{where}
        , attempt_{"SELECT GET_LOCK('" + name + "', 0)"}
        , release_{"SELECT RELEASE_LOCK('" + name + "')"} {}

    void lock() { expect_one(attempt_); }
    void unlock() { expect_one(release_); }

private:
    void expect_one(const std::string& statement) {
        if (session_.value(statement) != "1")
            throw std::runtime_error{"a user lock was not granted, or not released"};
    }

    session session_;
    const std::string attempt_, release_;
};

template <typename Lock>
class threads_with_sessions final : public contender {
public:
    /// Creates the threads. `updates` is the number of UPDATEs in a pair.
    threads_with_sessions(const arena& where, int updates)
        : updates_{updates} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(database_of(*where.group), name_of_lock(i), "bench");
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(locks_.size()), length, [this](int i) {
            return time_of([&] {
                locks_[i].lock();
                locks_[i].unlock();
            });
        });
    }

    claim scripts_for(const tally& all) const override {
        return {updates_ * all.done, updates_ * all.done};
    }

private:
    std::deque<Lock> locks_; // a deque does not move its elements
    const int updates_;
};

} // namespace

made shed_lock_threads(const arena& where) {
    return std::make_unique<threads_with_sessions<shed_lock>>(where, 2);
}

made user_lock_threads(const arena& where) {
    return std::make_unique<threads_with_sessions<user_lock>>(where, 0);
}

made holdfast_threads_without_bell(const arena& where) {
    arena quiet = where;
    quiet.query = "?bell=no";
    return holdfast_threads(quiet);
}

} // namespace holdfast::bench
