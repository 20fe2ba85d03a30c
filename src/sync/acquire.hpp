// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"
#include "sync/grant.hpp"

#include <optional>

namespace holdfast::sync {

/// Talks to the store until it grants, or until the call is over: busy after its patience
/// (`give_up_busy`), or finished by somebody else. Nothing then. Throws what the store threw.
/// On every way out but success, whatever the store may have granted is released behind it.
asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
