// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/locked_run.hpp"

#include <holdfast/basic_mutex.hpp>
#include <holdfast/client.hpp>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Clients of a run, one for each server. The locks keep references to these clients.
using clients = std::list<holdfast::client>;

/// Lock for one `holdfast run`: a single lock, several locks as one, or a lock on a quorum.
class asked_lock {
public:
    /// Creates the lock. Throws the errors of the locks' constructors.
    asked_lock(const locked_run&, clients&);

    holdfast::basic_mutex& get() { return *whole_; }

private:
    holdfast::basic_mutex& one(const std::string& name);
    template <typename Lock, typename... Arguments>
    Lock& keep(Arguments&&...);

    const locked_run& wanted_;
    clients& homes_;
    std::optional<holdfast::lease_time> lease_;
    std::vector<std::shared_ptr<void>> kept_; ///< owns the lock objects, which have different types
    holdfast::basic_mutex* whole_ = nullptr;
};

} // namespace cli
