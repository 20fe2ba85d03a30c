// SPDX-License-Identifier: Apache-2.0
// What a server was asked, by whom and when, in its own order and by its own clock.
#pragma once

#include "support/redis_connection.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::interop {

using microseconds = std::chrono::microseconds;

/// One command. What a script did itself comes directly behind the script.
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
