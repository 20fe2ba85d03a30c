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
    std::string text; ///< content of `text`, `status` and `error`
    std::vector<reply> items;

    // Time when the request was composed for sending, and time when its reply was read, both on
    // this client's clock. This member and all members below are set only in the outermost reply.
    time_point sent_at{};
    time_point received_at{};

    /// True if the keys of the request are being migrated to the server that replied. Messages that
    /// this request publishes do not reach subscribers at the old server.
    bool moves = false;

    /// Number of replicas that have confirmed the request (`call_wishes::replicas`). If the server
    /// refused to count them, `confirmation_refused` has its error.
    std::int64_t confirmed = 0;
    std::string confirmation_refused{};

    /// Estimate of the clock of the server that replied. Code that reads a reply with the server's
    /// time may update the estimate. Each connection has its own estimate. Null if the reply came
    /// without a connection.
    std::shared_ptr<runtime::remote_clock> clock{};
};

} // namespace holdfast::redis
