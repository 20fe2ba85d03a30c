// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace cli {

/// What to do about a word that nobody knows, to be put behind it: `: did you mean …? See …` if one
/// of the words may have been meant, else `; see …`.
std::string advice_on(std::string_view word, const std::vector<std::string>& words,
                      std::string_view verb);

/// Throws `usage_error` for an argument that the verb knows nothing of.
void reject_surplus(const CLI::App&);

} // namespace cli
