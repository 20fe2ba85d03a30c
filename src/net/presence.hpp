// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::net {

/// Reports to the observer when a server becomes unreachable and when it is reachable again.
/// Reports each outage once, even if many attempts to connect fail.
class presence {
public:
    /// Creates the reporter. `home` must outlive it.
    explicit presence(const store_context& home)
        : home_{home} {}

    void gone(const std::string& address, const failure& why);
    void back(const std::string& address);

private:
    const store_context& home_;
    std::optional<time_point> gone_since_;
};

/// Reports to the observer that the server denies a feature. Locks work without that feature.
void tell_impaired(const store_context&, const std::string& address, const failure& why);

} // namespace holdfast::net
