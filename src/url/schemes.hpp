// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// Returns the reader for the scheme of the URL. Throws `errc::invalid_argument` for an unknown
/// scheme. The error text lists the supported schemes, or names the component that adds the scheme.
scheme_reader reader_of(const parts&);

/// Returns the list of schemes for error messages: "redis://, ... and zk://".
std::string allowed_schemes();

} // namespace holdfast::url
