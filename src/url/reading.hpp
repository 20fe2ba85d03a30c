// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/credentials.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::url {

/// State of a `store_url`: the URL, and the names of the parameters that a reader has asked for.
class reading {
public:
    explicit reading(const parts& of, credential_provider with = {})
        : all{of}
        , logging_in{std::move(with)} {}
    reading(const reading&) = delete;

    const parts& all;
    const credential_provider logging_in;
    std::vector<std::string> known{}; ///< names of the parameters, in the order of the calls
};

} // namespace holdfast::url
