// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"

#include <cstddef>
#include <span>

namespace holdfast::mysql {

/// What a server said to one of several statements.
struct said {
    result what{};
    bool open = false; ///< a transaction, behind it; of an error that is not told
};

/// What the answers to several statements that went out together come to. No I/O.
struct judgement {
    enum class outcome {
        carried_out,
        not_carried_out,
        unknown,   ///< some of them, or a transaction is open that must not be
        left_open, ///< a transaction, as it was wished
        met_lock,  ///< a row was locked for too long, where that is an answer
    };
    outcome what = outcome::carried_out;
    std::size_t failed = 0; ///< the first that did, if any: else as many as there are
};

/// `was_open`: a transaction, before them.
judgement judge(std::span<const said>, bool was_open, const call_wishes&);

} // namespace holdfast::mysql
