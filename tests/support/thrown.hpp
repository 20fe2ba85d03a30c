// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace holdfast::support {

/// Error code and text of the exception that a call threw. The code is empty if the call threw
/// nothing.
struct thrown {
    error_code code;
    std::string text;
};

template <typename Call>
thrown thrown_by(Call call) {
    try {
        call();
        return {};
    } catch (const boost::system::system_error& e) {
        return {e.code(), e.what()};
    }
}

/// Returns the error of a coroutine that has ended.
inline thrown thrown_of(const std::exception_ptr& failed) {
    return thrown_by([&failed] {
        if (failed)
            std::rethrow_exception(failed);
    });
}

template <typename Call>
error_code code_of(Call call) {
    return thrown_by(std::move(call)).code;
}

} // namespace holdfast::support
