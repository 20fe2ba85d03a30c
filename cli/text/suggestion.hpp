// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Returns advice to print after an unknown word. If a known word was probably meant, returns `:
/// did you mean …? See …`, else `; see …`. `verb` names the help text and may be empty.
std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb);

} // namespace cli
