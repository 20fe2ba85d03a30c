// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::redis {

/// Server that the command connection leads to, as the handshake identified it.
struct server_in_use {
    std::string run_id;          ///< empty if the server did not tell it
    bool may_be_another = false; ///< whether it may be another server than before

    /// Returns whether another connection may stay open. `its_run_id` is the run_id of the server
    /// at the other end of that connection.
    bool serves(const std::string& its_run_id) const {
        if (its_run_id.empty() || run_id.empty())
            return !may_be_another;
        return its_run_id == run_id;
    }
};

} // namespace holdfast::redis
