// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

namespace holdfast::remote {

/// Returns the description of this process, with the label that the client was given.
client_card card_of(const store_context&);

} // namespace holdfast::remote
