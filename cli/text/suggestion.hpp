// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Returns advice to print after an unknown word. If the user probably meant a known word, returns
/// `: did you mean …? See …`, else `; see …`. `verb` is the verb of the help text, and may be
/// empty.
std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb);

} // namespace cli
