// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Returns the server of a command: --url, else HOLDFAST_URL, else this machine's private server,
/// which is started if it does not run. HOLDFAST_REQUIRE_SERVER=1 forbids the private server.
/// Throws `usage_error` and `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// Returns the servers of a verb that can ask a quorum: one URL, or the URLs of all nodes separated
/// by spaces. HOLDFAST_URL may have the same form. Throws as `server_url` does. Throws
/// `usage_error` also for a number of nodes that makes no quorum, for a node that is named twice,
/// and for nodes with different leases or prefixes.
std::string server_urls(const std::vector<std::string>& options);

/// Splits such a text into its URLs.
std::vector<std::string> each_url(const std::string& urls);

/// Returns whether a lock there lasts as long as its client's session, which is so on ZooKeeper.
/// The client's lease time is then the session timeout that it asks for.
bool keeps_sessions(const std::string& url);

/// Returns whether the URL is that of this machine's private server.
bool is_private_server(const std::string& url);

/// Returns the URL without its password, for messages. URLs of a quorum are separated by commas.
std::string without_password(std::string url);

/// Describes the server: `this machine's private server`, or the URL without its password.
std::string server_in_words(const std::string& url);

} // namespace cli
