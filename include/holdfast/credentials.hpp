// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/secret.hpp>

#include <functional>
#include <string>

namespace holdfast {

/// Who a client is at its store.
struct credentials {
    std::string user{}; ///< empty: the server's default user
    secret password{};  ///< both empty: the server is told nothing
};

/// Asked once for each connection that is made, so a password can change while the client runs:
///
///     how.credentials = [vault] { return holdfast::credentials{"app", vault->password()}; };
///
/// Called on the client's own thread or executor, one call at a time, also long after the client
/// was made; it must not block, so it hands out what was fetched before. What it throws
/// (`std::exception`) fails that one attempt to connect as `errc::unreachable`, with what() in the
/// reason.
using credential_provider = std::function<credentials()>;

/// What the environment's HOLDFAST_USERNAME and HOLDFAST_PASSWORD say at this moment; empty, and so
/// no provider at all, if neither is set. The library looks into the environment here and nowhere
/// else. Not while another thread changes the environment.
HOLDFAST_EXPORT credential_provider credentials_from_environment();

} // namespace holdfast
