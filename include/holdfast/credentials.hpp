// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/secret.hpp>

#include <functional>
#include <string>

namespace holdfast {

/// User name and password of a client.
struct credentials {
    std::string user{}; ///< empty: the server's default user
    secret password{};  ///< if both are empty, the client does not log in
};

/// Function that returns the credentials. The client calls it once for each new connection, so that
/// a password can change while the client runs:
///
///     how.credentials = [vault] { return holdfast::credentials{"app", vault->password()}; };
///
/// The client calls the function on its own thread or executor, one call at a time, also long after
/// the client was created. The function must not block: fetch the password in advance, and let the
/// function only return it. If the function throws a `std::exception`, the attempt to connect fails
/// with `errc::unreachable`, and the error text contains what().
using credential_provider = std::function<credentials()>;

/// Returns a provider of the values that the environment variables HOLDFAST_USERNAME and
/// HOLDFAST_PASSWORD have at this call. The provider is empty if neither variable is set. No other
/// function of the library reads the environment. Do not call this function while another thread
/// changes the environment.
HOLDFAST_EXPORT credential_provider credentials_from_environment();

} // namespace holdfast
