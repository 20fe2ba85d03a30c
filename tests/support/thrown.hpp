// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <string>

namespace holdfast::support {

/// What a call threw: no code if nothing.
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

} // namespace holdfast::support
