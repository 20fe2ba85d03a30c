// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cli {

/// Enables URLs for each kind of store that this program was built with.
void add_schemes();

} // namespace cli
