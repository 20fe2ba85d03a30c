// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/introduction.hpp"
#include "redis/server_in_use.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::redis {

/// Which server is at the other end, as each connection was told anew.
class portrait {
public:
    /// What the next connection leads to.
    enum class meeting { first, same, other_or_unknown };
    meeting meet(const introduction&, time_point now);

    /// What the connection leads to.
    server_in_use server() const { return {run_id_, may_be_another_}; }

    /// Nobody is connected any more: what is there next may have begun since.
    void lost(time_point now);

    server_identity identity() const { return {run_id_, forgets_before_}; }

private:
    bool met_ = false;
    bool may_be_another_ = false; // than the one met before
    std::string run_id_;
    std::string replication_id_;
    std::optional<time_point> forgets_before_;
    std::optional<time_point> before_loss_; // the same, should it be the same server still
};

} // namespace holdfast::redis
