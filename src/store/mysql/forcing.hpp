// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::mysql {

/// Selects the holds that are ended by force.
struct force_wish {
    lock_name name;
    std::string only_from{};         ///< end only the hold of this owner; empty: of any owner
    std::optional<lock_kind> kind{}; ///< kind that the lock must have; empty: any kind
};

/// Reads the holds and ends exactly these holds. Does so only if the server runs it before the
/// deadline.
asio::awaitable<attempt> force_once(site&, const force_wish&, time_point deadline, forced& outcome);

} // namespace holdfast::mysql
