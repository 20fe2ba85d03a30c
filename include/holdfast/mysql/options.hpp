// SPDX-License-Identifier: Apache-2.0
// Options of the component holdfast::mysql. The component is a separate library, so that other
// programs need not link libmariadb.
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
/// Every length of time is in whole milliseconds, within the bounds that its comment gives.
/// `make_store` throws for a value outside the bounds; the text names the field.
struct options {
    /// The primary server and the servers that may replace the primary server: 1 to 64 servers. The
    /// client tries the servers in this order. The default port is 3306.
    std::vector<server_address> servers{{"127.0.0.1", 0}};
    std::string unix_socket{}; ///< path of a unix socket; if it is set, `servers` are not used
    std::string schema{};      ///< database that contains the tables; never empty
    /// Name of the table of the locks; the names of the other tables begin with this name.
    std::string table = "holdfast_lock";

    /// TLS settings. If this option is empty, the client does not use TLS, so anyone on the network
    /// path can read and change the traffic.
    std::optional<tls_options> tls{};
    /// File with the server's public key (PEM). On a connection without TLS, the client encrypts
    /// the password with this key (`caching_sha2_password`). If this option is empty, the client
    /// accepts any key that the other side of the connection sends.
    std::string server_key_file{};
    std::string user{};
    secret password{};
    /// Provider of the user and the password. The client uses the provider if the fields `user` and
    /// `password` are empty.
    credential_provider credentials{};

    /// Limits of the connections. `connections_max`: maximum number of connections that requests
    /// share, 1 to 1000. `wait_connections_max`: maximum number of connections for waiters, 0 to
    /// 1000. On each connection for waiters, one waiter waits for a notification; all other waiters
    /// poll.
    std::size_t connections_max = 8;
    std::size_t wait_connections_max = 8;
    /// Whether a release may wake a waiter by a user lock (`GET_LOCK`). If false, all waiters poll.
    /// User locks are never used on Galera and other clusters where each server has its own user
    /// locks.
    bool bell = true;
    /// Whether this client deletes, from time to time, the rows that were not used for a day.
    bool sweep = false;

    /// Timeout for the lookup of the address, the connection and the login together; rounded up to
    /// seconds. Allowed: 1 ms to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// Timeout of one request. The time counts from when the request enters the queue until the
    /// reply. Allowed: 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// Pause between two attempts to connect. The pause grows from `backoff_min` to `backoff_max`,
    /// with jitter. Each of the two values is 1 ms to 1 day; `backoff_min` must not be longer than
    /// `backoff_max`.
    duration backoff_min{50};
    duration backoff_max{2000};
    /// Longest time without a request on a connection. After this time, the client sends a request
    /// that reads the server's clock, so that firewalls and proxies do not drop the idle
    /// connection. Allowed: 1 s to 1 day.
    duration keep_alive = std::chrono::seconds{30};

    std::size_t requests_max = 10'000; ///< maximum number of requests that are queued or in flight
};

/// Creates a store in the database that the options describe. Throws `errc::invalid_argument` at
/// once for a wrong option; the error text names the field. The store connects when it gets its
/// first request. Tables and statements: docs/protocol/mysql.md.
HOLDFAST_EXPORT store_factory make_store(options);

/// Registers the URL schemes `mysql://`, `mariadb://`, `mysql+unix://` and `mariadb+unix://`. Any
/// thread may call this function, also more than once.
HOLDFAST_EXPORT void add_schemes();

} // namespace holdfast::mysql
