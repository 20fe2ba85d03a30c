// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// What to do about a word that nobody knows, to be put behind it: `: did you mean …? See …` if one
/// of the known words may have been meant, else `; see …`. `verb`: whose help that is; may be
/// empty.
std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb);

} // namespace cli
