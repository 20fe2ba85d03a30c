// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cli {

class inheritance;

/// Properties of stdout or stderr.
struct output_form {
    std::size_t columns; ///< width of the terminal; no limit if it is not a terminal
    bool live;           ///< whether it is a terminal on which a line can be overwritten
    bool colours;        ///< whether it is live, and NO_COLOR does not forbid colours
};
output_form form_of(int descriptor);

/// Makes this program end without a message when the reader of its output has ended, which is usual
/// for command-line programs. Do not call it in a program that holds a lock.
void end_with_reader(const inheritance&);

/// Flushes stdout. Returns `status`, or `unwritten` if the output failed.
int after_output(int status);

} // namespace cli
