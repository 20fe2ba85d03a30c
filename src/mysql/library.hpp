// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::mysql {

/// Makes libmariadb ready, once in a process and before its first use. Left to itself it sets
/// SIGPIPE to be ignored in the whole process, and in all children, for good; whatever the program
/// had chosen is put back. Any thread.
void prepare_library();

/// While it lives, a thread is inside libmariadb that nobody waits for. At the end of the process
/// such threads are waited for, as long as they may take at most: OpenSSL is taken apart there.
class inside_library {
public:
    inside_library() noexcept;
    inside_library(const inside_library&) = delete;
    ~inside_library();
};

} // namespace holdfast::mysql
