// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// The one that reads URLs of that scheme. Throws `errc::invalid_argument`, with those that there
/// are, or with the component that has it.
scheme_reader reader_of(const parts&);

/// As errors name them: "redis://, ... and zk://".
std::string allowed_schemes();

} // namespace holdfast::url
