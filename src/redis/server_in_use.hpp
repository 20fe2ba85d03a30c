// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::redis {

/// The server that the shared connection for requests leads to, as it was told when it was made.
struct server_in_use {
    std::string run_id;          ///< empty: not told
    bool may_be_another = false; ///< than before

    /// Whether a connection can stay where it is; `its_run_id`: likewise of its own server.
    bool serves(const std::string& its_run_id) const {
        if (its_run_id.empty() || run_id.empty())
            return !may_be_another;
        return its_run_id == run_id;
    }
};

} // namespace holdfast::redis
