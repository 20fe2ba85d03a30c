// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

namespace holdfast::remote {

/// Returns the description of this process. It contains the label that the user gave to the client.
client_card card_of(const store_context&);

} // namespace holdfast::remote
