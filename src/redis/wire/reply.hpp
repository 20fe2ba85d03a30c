// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {

/// One answer of a server, RESP2.
struct reply {
    enum class kind { nil, integer, text, status, error, array };

    kind type = kind::nil;
    std::int64_t integer = 0;
    std::string text; ///< of text, status and error
    std::vector<reply> items;

    // Of the outermost reply, by this client's clock: when the request was composed to be written,
    // and when its answer was read.
    time_point sent_at{};
    time_point received_at{};

    /// And of its keys: they are on their way to the server that answered. Whoever listens at the
    /// server they come from does not hear what is told here.
    bool moves = false;

    /// And of what was asked behind it (`call_wishes::replicas`): so many replicas have confirmed
    /// it; or the server's words, if it refuses to say that.
    std::int64_t confirmed = 0;
    std::string confirmation_refused{};

    /// And of the connection by which it came: what is known of the clock at its other end. Whoever
    /// reads an answer that tells the server's time may teach it. Null where there is no
    /// connection.
    std::shared_ptr<runtime::remote_clock> clock{};
};

} // namespace holdfast::redis
