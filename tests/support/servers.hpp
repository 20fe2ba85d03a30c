// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::support {

struct server_binary {
    std::string label; ///< for people, as in "valkey-8"
    std::string path;
};

/// Those that tests run on: HOLDFAST_SERVERS ("redis-7.0=/usr/bin/redis-server;valkey-8=…"), or
/// the redis-server in the PATH.
std::vector<server_binary> servers();

/// Those of HOLDFAST_NEWER_SERVERS, in the same form: only what newer servers do in another way is
/// also tested on them. There may be none.
std::vector<server_binary> newer_servers();

/// Those that an environment variable names in that form; none if it is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Whether a server that is not there fails the tests instead of skipping them:
/// HOLDFAST_REQUIRE_SERVERS=1.
bool servers_are_required();

/// There is no such program, or it does not start.
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace holdfast::support
