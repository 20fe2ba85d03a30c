// SPDX-License-Identifier: Apache-2.0
// Records what an asynchronous function passed to its completion handler.
//
//     said<lease> held;
//     stock.async_lock(held.handler());
//     run();
//     ASSERT_TRUE(held.well());
#pragma once

#include <holdfast/asio.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

namespace holdfast::support {

/// Result of an asynchronous call, stored by its handler. Not thread-safe: for clients that run on
/// the test's own thread.
template <typename T = std::monostate>
class said {
public:
    /// Returns a handler for one call. The handler may live longer than this object.
    auto handler() {
        return [heard = heard_](const error_code& code, auto... value) {
            ++heard->times;
            heard->code = code;
            (heard->value.emplace(std::move(value)), ...);
        };
    }

    bool done() const {
        if (heard_->times > 1)
            throw std::logic_error{"a handler was invoked twice"};
        return heard_->times == 1;
    }
    error_code code() const { return heard_->code; }
    bool well() const { return done() && !code(); }
    bool failed(const auto& with) const { return done() && code() == with; }

    /// Returns the value of the call. Throws `std::bad_optional_access` if there is no value.
    T& value() const { return heard_->value.value(); }
    T take() { return std::move(value()); }

private:
    struct heard {
        int times = 0;
        error_code code{};
        std::optional<T> value{};
    };
    std::shared_ptr<heard> heard_ = std::make_shared<heard>();
};

} // namespace holdfast::support
