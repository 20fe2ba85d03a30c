// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::net {

/// Reports to the observer when a server becomes unreachable and when it is back. Reports each
/// outage once, however many attempts to connect fail.
class presence {
public:
    /// `home` must outlive this object.
    explicit presence(const store_context& home)
        : home_{home} {}

    void gone(const std::string& address, const failure& why);
    void back(const std::string& address);

private:
    const store_context& home_;
    std::optional<time_point> gone_since_;
};

/// Reports to the observer that the server denies a feature that locks can work without.
void tell_impaired(const store_context&, const std::string& address, const failure& why);

} // namespace holdfast::net
