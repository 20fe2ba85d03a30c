// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::support {

struct server_binary {
    std::string label; ///< for people, for example "valkey-8"
    std::string path;
};

/// Returns the servers on which tests run: HOLDFAST_SERVERS
/// ("redis-7.0=/usr/bin/redis-server;valkey-8=…"), or the redis-server in the PATH.
std::vector<server_binary> servers();

/// Returns the servers of HOLDFAST_NEWER_SERVERS, in the same form. Only what newer servers do
/// differently is tested on them. May be empty.
std::vector<server_binary> newer_servers();

/// Returns the servers that an environment variable names in that form; none if it is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Returns whether a missing server fails the tests instead of skipping them:
/// HOLDFAST_REQUIRE_SERVERS=1.
bool servers_are_required();

/// Exception: the server program does not exist or does not start.
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace holdfast::support
