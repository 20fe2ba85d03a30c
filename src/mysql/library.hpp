// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::mysql {

/// Initialises libmariadb, once per process and before its first use. libmariadb sets SIGPIPE to be
/// ignored in the whole process and all its children. This function restores the program's own
/// setting. Any thread may call it.
void prepare_library();

/// Guard for a detached thread while it is inside libmariadb. When the process exits, static
/// destructors wait up to three seconds for such threads, because OpenSSL is cleaned up there.
class inside_library {
public:
    inside_library() noexcept;
    inside_library(const inside_library&) = delete;
    ~inside_library();
};

} // namespace holdfast::mysql
