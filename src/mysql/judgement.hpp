// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"

#include <cstddef>
#include <span>

namespace holdfast::mysql {

/// The server's answer to one of several statements.
struct said {
    result what{};
    bool open = false; ///< a transaction is open after this answer; meaningless after an error
};

/// Outcome of all statements of one request.
struct judgement {
    enum class outcome {
        carried_out,
        not_carried_out,
        /// Some statements may have been carried out, or a transaction is open although the request
        /// does not allow this.
        unknown,
        left_open, ///< a transaction is open, and the request allows this
        met_lock,  ///< the wait for a row lock timed out, and `may_meet_lock` allows this
    };
    outcome what = outcome::carried_out;
    /// index of the first failed statement; number of statements if none failed
    std::size_t failed = 0;
};

/// Decides from the answers whether the request was carried out. `was_open` says whether a
/// transaction was open before the request.
judgement judge(std::span<const said>, bool was_open, const call_wishes&);

} // namespace holdfast::mysql
