// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cli {

class inheritance;

/// What stdout is, for whoever prints on it.
struct output_form {
    std::size_t columns; ///< to keep within; without limit where it is no terminal
    bool colours;        ///< on a terminal, if NO_COLOR does not forbid them
};
output_form stdout_form();

/// From now on the program ends as others do when nobody reads its output: without a word. Not for
/// who holds a lock.
void end_with_reader(const inheritance&);

/// Writes what is still to be written. Answers the status, or that of an output that takes no more.
int after_output(int status);

} // namespace cli
