// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cli {

class inheritance;

/// What stdout or stderr is, for whoever writes on it.
struct output_form {
    std::size_t columns; ///< to keep within; without limit where it is no terminal
    bool live;           ///< a terminal on which a line can be written over
    bool colours;        ///< such a one, and NO_COLOR does not forbid them
};
output_form form_of(int descriptor);

/// From now on the program ends as others do when nobody reads its output: without a word. Not for
/// who holds a lock.
void end_with_reader(const inheritance&);

/// Writes what is still to be written. Answers the status, or that of an output that takes no more.
int after_output(int status);

} // namespace cli
