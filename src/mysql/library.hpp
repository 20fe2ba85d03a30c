// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::mysql {

/// Initialises libmariadb, once per process. Call this function before the first use of libmariadb.
/// libmariadb makes the whole process and its children ignore SIGPIPE; this function restores the
/// program's own setting. Any thread may call it.
void prepare_library();

/// Guard for a detached thread while it is inside libmariadb. When the process exits, static
/// destructors wait up to three seconds for these threads, because the exit cleans up OpenSSL.
class inside_library {
public:
    inside_library() noexcept;
    inside_library(const inside_library&) = delete;
    ~inside_library();
};

} // namespace holdfast::mysql
