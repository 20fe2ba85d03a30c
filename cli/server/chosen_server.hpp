// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace cli {

/// The server of a command: --url, or else HOLDFAST_URL, or else this machine's private server,
/// which is started if it does not run. HOLDFAST_REQUIRE_SERVER=1 forbids the last. Throws
/// `usage_error`, `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// Whether that is this machine's private server.
bool is_private_server(const std::string& url);

/// A URL without its password, for messages.
std::string without_password(std::string url);

/// For people: `this machine's private server`, or the URL without its password.
std::string server_in_words(const std::string& url);

} // namespace cli
