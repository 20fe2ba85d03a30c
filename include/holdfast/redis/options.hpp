// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>
#include <holdfast/export.hpp>
#include <holdfast/store.hpp>
#include <holdfast/tls.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::redis {

using holdfast::tls_options;

/// How to reach one Redis or Valkey server. URL forms (docs/url.md):
///
///     redis://[user[:password]@]host[:port][/database]
///     rediss://...                         the same over TLS; parameters: tls.hpp
///     unix:///path/to/socket[?database=N]  (also redis+unix://)
struct options {
    std::string host = "127.0.0.1"; ///< name or address; ignored where `unix_socket` is given
    std::uint16_t port = 6379;
    std::string unix_socket{};
    std::optional<tls_options> tls{}; ///< nothing: plain, for all on the way to read and to change

    std::string user{}; ///< empty: the server's default user
    secret password{};
    credential_provider credentials{}; ///< asked for what `user` and `password` leave empty

    std::uint32_t database = 0; ///< locks live in it; Redis' channels are shared by all databases

    // Whole milliseconds. `make_store` refuses what is outside the bounds, and names the field.

    /// Look-up, connection and set-up together. 1 ms to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// One request, from queue to answer. 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// Between two connection attempts, growing and jittered up to `backoff_max`. Each 1 ms to 1
    /// day, the first not longer than the second.
    duration backoff_min{50};
    duration backoff_max{2000};
    /// How long a subscription is kept after the last waiter. 0 ms to 1 day.
    duration subscription_linger = std::chrono::seconds{5};

    /// Connections beside the shared one, each for one blocking call at a time: its thread itself
    /// writes and reads there. Made when they are wanted, closed after ten seconds without use.
    /// Callers beyond that many share the one connection. Zero: all do, always. At most 1000.
    std::size_t lanes_max = 16;

    /// How long such a thread asks again and again for its answer before it sleeps: half the time
    /// of a round trip on one machine, for a core that is busy meanwhile. Only where there are
    /// cores to spare and answers come within that time. Zero: never. 0 us to 10 ms.
    std::chrono::microseconds polling{100};

    std::size_t requests_max = 100'000;             ///< queued or in flight, per connection
    std::size_t reply_bytes_max = 16 * 1024 * 1024; ///< a longer answer is not one of ours
};

/// A store on that server. Throws `errc::invalid_argument`, naming what is wrong, at once.
/// Connects when it is first asked. Wire format: docs/protocol/mutex.md.
HOLDFAST_EXPORT store_factory make_store(options);

} // namespace holdfast::redis
