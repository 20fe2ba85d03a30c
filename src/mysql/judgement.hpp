// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"

#include <cstddef>
#include <span>

namespace holdfast::mysql {

/// The server's answer to one of several statements.
struct said {
    result what{};
    bool open = false; ///< a transaction is open after this answer; not known after an error
};

/// The outcome of several statements that were sent together.
struct judgement {
    enum class outcome {
        carried_out,
        not_carried_out,
        /// Some statements may have been carried out, or a transaction is open that must not be
        /// open.
        unknown,
        left_open, ///< a transaction is open, as requested
        met_lock,  ///< a row lock wait timed out where `may_meet_lock` allows it
    };
    outcome what = outcome::carried_out;
    std::size_t failed = 0; ///< index of the first failed statement; if none failed: their number
};

/// Judges the answers. `was_open` says whether a transaction was open before them.
judgement judge(std::span<const said>, bool was_open, const call_wishes&);

} // namespace holdfast::mysql
