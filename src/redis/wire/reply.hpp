// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {

/// One reply of a server, in RESP2.
struct reply {
    enum class kind { nil, integer, text, status, error, array };

    kind type = kind::nil;
    std::int64_t integer = 0;
    std::string text; ///< of `text`, `status` and `error`
    std::vector<reply> items;

    // The members from here on are set only in the outermost reply. Times on this client's clock:
    // when the request was composed for sending, and when its reply was read.
    time_point sent_at{};
    time_point received_at{};

    /// The keys of the request are being migrated to the server that replied. Messages that this
    /// request publishes do not reach subscribers at the old server.
    bool moves = false;

    /// Number of replicas that have confirmed the request (`call_wishes::replicas`). If the server
    /// refused to tell, `confirmation_refused` has its error.
    std::int64_t confirmed = 0;
    std::string confirmation_refused{};

    /// What is known of the clock of the server that replied. Code that reads a reply with the
    /// server's time may update it. Each connection has its own. Null if the reply came without a
    /// connection.
    std::shared_ptr<runtime::remote_clock> clock{};
};

} // namespace holdfast::redis
