// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/tenure.hpp"

#include <string>
#include <utility>

namespace holdfast::sync {

/// A system_error whose what() is exactly the given text.
class worded_error final : public boost::system::system_error {
public:
    explicit worded_error(failure why)
        : system_error{why.code}
        , words_{why.text.empty() ? why.code.message() : std::move(why.text)} {}
    const char* what() const noexcept override { return words_.c_str(); }

private:
    std::string words_;
};

} // namespace holdfast::sync
