// SPDX-License-Identifier: Apache-2.0
// A process at several servers, and the locks of several that it has there.
#pragma once

#include "interop/remote.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::interop {

/// One of the locks that are taken as one: at which of the servers, and its name.
struct member {
    std::size_t server;
    std::string name;
};

/// The clients of one process, one at each server.
class delegation {
public:
    delegation(peer&, bool is_jvm, const std::vector<std::string>& urls, const client_settings&);
    delegation(const delegation&) = delete;
    ~delegation();

    bool is_jvm() const { return clients_.front()->is_jvm(); }
    peer& process() { return clients_.front()->process(); }
    remote_client& client(std::size_t server) { return *clients_.at(server); }

    /// Of that thread: one lock at one server, all of several, a majority of those of one name.
    /// Their calls may take long: a JVM that misses a message looks again when a lease is over, and
    /// one that asks a dead server waits for it again and again.
    remote_lock one(const std::string& actor, const member&, const std::string& getter = "getLock");
    remote_lock all(const std::string& actor, const std::vector<member>&);
    remote_lock majority(const std::string& actor, const std::string& name,
                         const std::string& getter = "getLock");

private:
    remote_lock combined(const std::string& actor, const std::string& object,
                         const std::vector<member>&, const std::string& getter);

    std::vector<std::unique_ptr<remote_client>> clients_;
    std::set<std::pair<std::string, std::string>> known_; // locks of several, made already
};

/// As `soon`, for what such locks are asked. Throws what the call throws.
json::value patiently(ongoing);

} // namespace holdfast::interop
