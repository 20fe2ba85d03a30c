// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/failure.hpp"
#include "redis/node_context.hpp"

#include <optional>

namespace holdfast::redis {

/// Tells the observer when the server goes away and when it is back: once per outage, however many
/// attempts to connect fail meanwhile.
class presence {
public:
    explicit presence(const node_context& context)
        : context_{context} {}

    void gone(const failure& why);
    void back();

private:
    const node_context& context_;
    std::optional<time_point> gone_since_;
};

/// Tells the observer that the server is there and denies something that locks can do without.
void tell_impaired(const node_context&, const failure& why);

} // namespace holdfast::redis
