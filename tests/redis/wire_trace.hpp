// SPDX-License-Identifier: Apache-2.0
// Reads the recordings of real Redisson clients in traces/, which has one folder for each version
// (traces/README.md).
#pragma once

#include "redis/client/resp.hpp"
#include "support/redis_connection.hpp"

#include <holdfast/store.hpp>

#include <boost/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::trace {

// The clients of a recording, whose ids it leaves out. Scripts refuse owners that have no id.
inline constexpr const char* client1 = "00000000-0000-4000-8000-000000000001";
inline constexpr const char* client2 = "00000000-0000-4000-8000-000000000002";

inline bool is_owner(std::string_view word) {
    return word.starts_with("00000000-0000-4000-");
}

namespace json = boost::json;

inline redis::reply integer(std::int64_t value) {
    redis::reply answer;
    answer.type = redis::reply::kind::integer;
    answer.integer = value;
    return answer;
}

struct command {
    std::string by;   ///< client1, client2 or OTHER
    std::string what; ///< the label of a script, or the name of a plain command
    bool is_script = false;
    std::vector<std::string> keys;
    std::vector<std::string> words;    ///< the arguments
    std::optional<json::value> answer; ///< as recorded; nothing: not recorded
    int times = 1;
};

struct call {
    std::string by, thread, what; ///< `L.lock` of T1 of CLIENT1
    bool operator==(const call&) const = default;
};

struct step {
    int number = 0;
    call made; ///< `what` is `wait` or `server.commands` where nobody called
    lock_kind kind = lock_kind::plain; ///< of the object that was called
    json::array arguments;
    std::optional<json::value> result;
    bool pending = false;
    std::vector<command> commands;
    std::vector<support::message> messages;
    std::vector<call> ended;
    std::optional<json::object> state; ///< nothing: as before

    bool asks_for_a_lock() const;    ///< `L.lock`, `L.tryLock`, … with and without an end
    bool is_refused_reentry() const; ///< of a lock that its holder may not lock again
};

struct scenario {
    std::string name;
    std::vector<step> steps;
};

struct recording {
    std::string version;
    duration watchdog{30'000};
    std::vector<scenario> scenarios;
};

/// Throws where the file is not of the form that its README describes.
recording read(const std::filesystem::path& file);

bool is_acquire(const command&);

/// Whether a server's answer is the recorded one: exactly, but for what was left of a lease ("~…").
bool is_as_recorded(const json::value& recorded, const redis::reply& answer);

} // namespace holdfast::trace
