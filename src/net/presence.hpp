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
    /// Both must outlive it.
    presence(const store_context& home, const std::string& address)
        : home_{home}
        , address_{address} {}

    void gone(const failure& why);
    void back();

private:
    const store_context& home_;
    const std::string& address_;
    std::optional<time_point> gone_since_;
};

/// Tells the observer that the server is there and denies something that locks can do without.
void tell_impaired(const store_context&, const std::string& address, const failure& why);

} // namespace holdfast::net
