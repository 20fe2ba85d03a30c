// SPDX-License-Identifier: Apache-2.0
// Scripts for the tests of moving slots, with their keys, arguments and the data that they find.
#pragma once

#include "redis/client/resp.hpp"
#include "support/redis_server.hpp"

#include <map>
#include <string>
#include <vector>

namespace holdfast::migrating {

inline constexpr const char* name = "L";

/// One run of a script: where it finds what, and what comes of it where nothing moves.
struct trial {
    std::string about;
    const redis::script* script;
    std::vector<std::vector<std::string>> before; ///< commands; see dated()
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
    /// It tells nobody whom it cannot see, and takes no place away that it cannot see.
    bool may_miss_what_it_cannot_see = false;
};

std::vector<trial> trials_of_locks();
std::vector<trial> trials_of_counters();

/// Words `+N` and `-N` in place of times: so many ms from now.
std::vector<std::string> dated(std::vector<std::string> words);

/// Data of each key, without the parts that differ from run to run.
using picture = std::map<std::string, std::string>;
std::string describe(support::redis_server&, const std::string& key);
std::string in_words(const redis::reply&);

/// Returns whether an error says that the keys are on another server, or are being moved.
bool is_about_the_place(const std::string& error);

/// The names of all scripts that there are.
std::vector<std::string> all_scripts();

} // namespace holdfast::migrating
