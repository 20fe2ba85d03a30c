// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/secret.hpp>

#include <functional>
#include <string>

namespace holdfast {

/// The user name and the password of a client.
struct credentials {
    std::string user{}; ///< empty: the server's default user
    secret password{};  ///< both empty: the client does not log in
};

/// Called once for each new connection, so that a password can change while the client runs:
///
///     how.credentials = [vault] { return holdfast::credentials{"app", vault->password()}; };
///
/// It is called on the client's own thread or executor, one call at a time, also long after the
/// client was made. It must not block: fetch the password before, and only return it here. If it
/// throws a `std::exception`, that attempt to connect fails with `errc::unreachable`, and what() is
/// in the text.
using credential_provider = std::function<credentials()>;

/// A provider of HOLDFAST_USERNAME and HOLDFAST_PASSWORD, as they are in the environment now; empty
/// (no provider) if neither is set. The library reads the environment nowhere else. Do not call it
/// while another thread changes the environment.
HOLDFAST_EXPORT credential_provider credentials_from_environment();

} // namespace holdfast
