// SPDX-License-Identifier: Apache-2.0
// State of a server, and the commands that it received.
#pragma once

#include "support/redis_connection.hpp"
#include "support/redis_server.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::interop {

// State of a key on a server, as any client can read it.

struct key_state {
    std::string type;
    std::map<std::string, std::string> fields{}; ///< of a hash; of a sorted set the scores
    std::string value{};                         ///< of a string
    std::optional<duration> left{};              ///< nothing: for ever
};

/// All keys but those that a side keeps for itself: unlock latches of JVMs, our cards and memories
/// of requests. Each of those must have an end, or this throws `std::runtime_error`.
std::map<std::string, key_state> state_of(support::redis_server&);

/// Of those keys that no JVM reads, the ones in which we remember requests that change a counter.
std::size_t memories_of_requests(support::redis_server&, const std::string& name);

/// The server's own clock, since 1970.
std::chrono::microseconds time_of(support::redis_server&);

/// Where the releases of a plain lock are told.
std::string channel_of(const std::string& name);

// List of the commands that a server received: who sent each command, and when, by the server's own
// order and clock.

using microseconds = std::chrono::microseconds;

/// One command. The commands of a script come directly after the script.
struct entry {
    microseconds at; ///< since 1970, on the server
    bool in_script;
    std::vector<std::string> words; ///< the command's name in capitals

    bool is(const std::string& name) const { return words.front() == name; }
    bool is_script() const { return is("EVAL") || is("EVALSHA"); }
    bool is_listening() const { return is("SUBSCRIBE") || is("SSUBSCRIBE"); }
    bool is_telling() const { return is("PUBLISH") || is("SPUBLISH"); }
    bool mentions(const std::string& word) const; ///< as an argument, or the beginning of one
};

class transcript {
public:
    /// Begins now: returns when the server has confirmed it.
    explicit transcript(const std::string& socket_path);

    /// All that was asked until now.
    const std::vector<entry>& all();

private:
    std::vector<entry> heard_;
    support::redis_connection connection_, mark_;
};

} // namespace holdfast::interop
