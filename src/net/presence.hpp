// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::net {

/// Tells the observer when the server goes away and when it is back: once per outage, however many
/// attempts to connect fail meanwhile.
class presence {
public:
    /// It must outlive it.
    explicit presence(const store_context& home)
        : home_{home} {}

    void gone(const std::string& address, const failure& why);
    void back(const std::string& address);

private:
    const store_context& home_;
    std::optional<time_point> gone_since_;
};

/// Tells the observer that the server is there and denies something that locks can do without.
void tell_impaired(const store_context&, const std::string& address, const failure& why);

} // namespace holdfast::net
