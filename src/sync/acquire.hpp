// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Talks to the store until the lock is granted or the call is over: busy after its patience
/// (`give_up_busy`), or finished by somebody else. Nothing then. Throws what the store threw.
/// On every way out but success, whatever the store may have granted is released behind it.
asio::awaitable<std::shared_ptr<wire_hold>> acquire(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
