// SPDX-License-Identifier: Apache-2.0
// Clients of the store on a real server.
#pragma once

#include "mysql/rows.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/options.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <string>
#include <utility>

namespace holdfast::mysql {

inline options reaching(const support::mariadb_server& at) {
    options how;
    how.unix_socket = at.socket_path();
    how.schema = support::mariadb_server::schema;
    how.user = support::mariadb_server::user;
    how.password = secret{support::mariadb_server::password};
    return how;
}

inline client client_of(options how, holdfast::options more = {}) {
    more.store = make_store(std::move(how));
    return client{std::move(more)};
}

/// Nothing but doubt has what is held asked for within a test.
inline constexpr duration long_lease = std::chrono::hours{1};

inline void make_tables_at(support::mariadb_server& server) {
    for (const std::string& each : making(in_schema))
        server.sql(each);
}

inline lease lease_of(fenced_mutex& lock) {
    return support::soon(lock.async_lock(boost::asio::use_future));
}

/// One that is sent now has an answer, or is given up.
inline void wait_longer_than_a_request() {
    const options usual;
    const auto end = std::chrono::steady_clock::now() + usual.command_timeout + 500ms;
    EXPECT_TRUE(support::eventually([&] { return std::chrono::steady_clock::now() > end; }));
}

class on_store : public on_rows {
protected:
    client make_client(holdfast::options more = {}) {
        return client_of(reaching(server()), std::move(more));
    }

    /// On a thread of its own, which waits as long as need be.
    template <typename Work>
    auto meanwhile(Work work) {
        return std::async(std::launch::async, std::move(work));
    }

    bool is_held() { return of_row("expires>UTC_TIMESTAMP(6)") == "1"; }
};

} // namespace holdfast::mysql
