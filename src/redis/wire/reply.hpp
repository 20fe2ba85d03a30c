// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <cstdint>
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
};

} // namespace holdfast::redis
