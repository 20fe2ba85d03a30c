// SPDX-License-Identifier: Apache-2.0
// Function that returns the doctor's findings about one topic.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/redis/options.hpp>

#include <string>
#include <utility>

namespace holdfast::support {

inline diagnosis diagnosed(redis::options where, unsigned replicas = 0,
                           duration lease = std::chrono::seconds{30},
                           const std::string& name = "holdfast-doctor") {
    options how;
    how.store = redis::make_store(std::move(where));
    how.required_replicas = replicas;
    how.lease_time = lease;
    client one{std::move(how)};
    return one.doctor(name);
}

/// Returns the doctor's findings about a topic, one per line, for example `warning: the clock is
/// wrong (use NTP)`.
inline std::string said_of(const std::string& topic, const diagnosis& found) {
    std::string all;
    for (const finding& each : found.findings)
        if (each.topic == topic)
            all += std::string{to_string(each.how_bad)} + ": " + each.what +
                   (each.remedy.empty() ? "\n" : " (" + each.remedy + ")\n");
    return all;
}

} // namespace holdfast::support
