// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::support {

struct server_binary {
    std::string label; ///< name in messages, for example "valkey-8"
    std::string path;
};

/// Returns the servers on which the tests run. They come from HOLDFAST_SERVERS
/// ("redis-7.0=/usr/bin/redis-server;valkey-8=…"). Without that variable it is the redis-server in
/// the PATH.
std::vector<server_binary> servers();

/// Returns the servers of HOLDFAST_NEWER_SERVERS, which has the same form as HOLDFAST_SERVERS. Only
/// the differences of newer versions are tested on these servers. The result may be empty.
std::vector<server_binary> newer_servers();

/// Returns the servers in an environment variable of this form. Returns an empty list if the
/// variable is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Returns whether HOLDFAST_REQUIRE_SERVERS=1 is set. A missing server then fails the tests;
/// otherwise the tests are skipped.
bool servers_are_required();

/// Exception: the server program does not exist or cannot be started.
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace holdfast::support
