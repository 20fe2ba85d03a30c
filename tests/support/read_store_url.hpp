// SPDX-License-Identifier: Apache-2.0
// Functions that parse the URL of a store as the client does.
#pragma once

#include "config/url.hpp"
#include "config/url_parts.hpp"

#include <holdfast/error.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::support {

/// Parses a URL, and removes the client's own parameters. Returns the result of `read(store_url&)`
/// for the rest.
template <typename Read>
auto read_store_url(std::string_view text, Read read, credential_provider logging_in = {}) {
    const url::parts all = url::split(text);
    url::reading inside{all, std::move(logging_in)};
    store_url seen{inside};
    options client;
    url::read_client_parameters(seen, client);
    return read(seen);
}

/// Returns the error message with which `read` refuses the URL.
template <typename Read>
std::string url_refusal(std::string_view text, Read read) {
    try {
        (void)read_store_url(text, read);
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument) << text;
        return e.what();
    }
    ADD_FAILURE() << text << " was taken";
    return {};
}

} // namespace holdfast::support
