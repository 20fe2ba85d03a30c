// SPDX-License-Identifier: Apache-2.0
// Of the component holdfast::mysql, which is a library of its own: only who uses it links
// libmariadb.
#pragma once

#include <holdfast/address.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/export.hpp>
#include <holdfast/store.hpp>
#include <holdfast/tls.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// How to reach MySQL (8.0 and later) or MariaDB (10.6 and later). URL forms (docs/url.md):
///
///     mysql://[user[:password]@]host[:port][,host[:port]...]/schema     (also mariadb://)
///     mysql+unix:///path/to/socket?database=schema                      (also mariadb+unix://)
///     mysql://...?tls=yes                  over TLS; parameters: tls.hpp
///
/// Every length of time is in whole milliseconds. `make_store` refuses a value outside the bounds
/// beside it, and names the field.
struct options {
    /// A primary, and who may take its place: 1 to 64, tried in this order. The usual port is 3306.
    std::vector<server_address> servers{{"127.0.0.1", 0}};
    std::string unix_socket{};           ///< then `servers` are not used
    std::string schema{};                ///< the database that has the tables; never empty
    std::string table = "holdfast_lock"; ///< the others begin with its name, too

    std::optional<tls_options> tls{}; ///< no TLS if empty: all can be read and changed on the way
    /// The server's public key (PEM), with which a password goes over a connection without TLS
    /// (`caching_sha2_password`). Empty: the key is taken from whoever sends one.
    std::string server_key_file{};
    std::string user{};
    secret password{};
    credential_provider credentials{}; ///< its user or password is used where the field is empty

    /// Connections that requests share, and connections on each of which one waiter waits: more
    /// waiters poll. 1 to 1000; 0 to 1000.
    std::size_t connections_max = 8;
    std::size_t wait_connections_max = 8;
    /// False: no `GET_LOCK`, all waiters poll. It is never used on Galera and other clusters where
    /// each server has user locks of its own.
    bool bell = true;
    /// True: rows that nobody has used for a day are deleted by this client, now and then.
    bool sweep = false;

    /// The limit for looking up an address, connecting and logging in; rounded up to seconds. 1 ms
    /// to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// The limit for one request, from entering the queue to its answer. 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// The pause between two attempts to connect: it is jittered, and grows from `backoff_min` up
    /// to `backoff_max`. Each 1 ms to 1 day, and the first not longer than the second.
    duration backoff_min{50};
    duration backoff_max{2000};
    /// An idle connection is used once in this time, so that nothing on the way forgets it; the
    /// server's clock is read with that. 1 s to 1 day.
    duration keep_alive = std::chrono::seconds{30};

    std::size_t requests_max = 10'000; ///< queued or in flight
};

/// A store in that database. Throws `errc::invalid_argument` at once; the text names the wrong
/// field. The store connects when it gets its first request. Tables and statements:
/// docs/protocol/mysql.md.
HOLDFAST_EXPORT store_factory make_store(options);

/// From now on URLs may begin with mysql:// and the others above. Any thread; may be repeated.
HOLDFAST_EXPORT void add_schemes();

} // namespace holdfast::mysql
