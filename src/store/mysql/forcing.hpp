// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::mysql {

/// Which holds to end by force.
struct force_wish {
    lock_name name;
    std::string only_from{};         ///< end only this owner's hold; empty: any owner's
    std::optional<lock_kind> kind{}; ///< empty: a lock of any kind
};

/// Ends exactly the holds that it has read, if the server runs it before the deadline.
asio::awaitable<attempt> force_once(site&, const force_wish&, time_point deadline, forced& outcome);

} // namespace holdfast::mysql
