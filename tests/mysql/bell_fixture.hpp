// SPDX-License-Identifier: Apache-2.0
// Waiters at the bell of one lock.
#pragma once

#include "mysql/store_fixture.hpp"

#include <cstdint>
#include <future>
#include <string>

namespace holdfast::mysql {

class on_bell : public on_store {
protected:
    std::string bell() { return bell_of(support::mariadb_server::schema, "holdfast_lock", name_); }

    std::uint64_t waiting_for_bell() {
        return std::stoull(server().value("SELECT COUNT(*) FROM information_schema.processlist "
                                          "WHERE STATE='User lock'"));
    }
    bool somebody_waits_for_bell() {
        return support::eventually([&] { return waiting_for_bell() > 0; });
    }
    void kill_waiting() {
        for (const auto& row : server().sql("SELECT ID FROM information_schema.processlist WHERE "
                                            "STATE='User lock'"))
            server().sql("KILL " + row.at(0).value());
    }
    std::future<bool> taken_meanwhile(mutex& lock) {
        return meanwhile([&lock] {
            lock.lock();
            lock.unlock();
            return true;
        });
    }

    /// No poll of the loop's own finds anything in time.
    static holdfast::options seldom() { return {.poll_bound = std::chrono::hours{1}}; }
};

} // namespace holdfast::mysql
