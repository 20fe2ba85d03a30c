// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// The server of a command: --url, or else HOLDFAST_URL, or else this machine's private server,
/// which is started if it does not run. HOLDFAST_REQUIRE_SERVER=1 forbids the last. Throws
/// `usage_error`, `no_server`.
std::string server_url(const std::optional<std::string>& option);

/// Likewise of a verb that can ask a quorum: one URL, or those of all its nodes with spaces between
/// them, as they may be in HOLDFAST_URL. Throws `usage_error`, too, for a number of nodes that
/// makes no quorum, a node that is there twice, and nodes with different leases or prefixes.
std::string server_urls(const std::vector<std::string>& options);

/// The parts of such a text.
std::vector<std::string> each_url(const std::string& urls);

/// Whether a hold lasts there as long as its client's session: on ZooKeeper. The client's lease
/// time is then what the session is asked for.
bool keeps_sessions(const std::string& url);

/// Whether that is this machine's private server.
bool is_private_server(const std::string& url);

/// A URL without its password, for messages; those of a quorum have a comma between them.
std::string without_password(std::string url);

/// For people: `this machine's private server`, or the URL without its password.
std::string server_in_words(const std::string& url);

} // namespace cli
