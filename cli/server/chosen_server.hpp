// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Returns the URL of the server for a command: --url, else HOLDFAST_URL, else this machine's
/// private server. Starts the private server if it does not run. HOLDFAST_REQUIRE_SERVER=1 forbids
/// the private server. Throws `usage_error` and `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// Returns the servers for a verb that can ask a quorum: one URL, or the URLs of all nodes
/// separated by spaces. HOLDFAST_URL may have the same form. Throws the errors of `server_url`.
/// Also throws `usage_error` in three cases: the number of nodes is not valid for a quorum, a node
/// is named twice, or nodes have different leases or prefixes.
std::string server_urls(const std::vector<std::string>& options);

/// Splits the text of `server_urls` into its URLs.
std::vector<std::string> each_url(const std::string& urls);

/// Returns whether a lock on that server lasts as long as its client's session. This is so on
/// ZooKeeper. There the client's lease time is the session timeout that the client requests.
bool keeps_sessions(const std::string& url);

/// Returns whether this is the URL of this machine's private server.
bool is_private_server(const std::string& url);

/// Returns the URL without its password, for messages. The URLs of a quorum are separated by
/// commas.
std::string without_password(std::string url);

/// Describes the server for messages: `this machine's private server`, or the URL without its
/// password.
std::string server_in_words(const std::string& url);

} // namespace cli
