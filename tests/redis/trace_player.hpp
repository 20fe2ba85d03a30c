// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace_client.hpp"
#include "trace_redisson.hpp"

#include <cctype>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::trace {

// In whose place our client stands when a recording of two JVMs is replayed.

struct cast {
    std::string name;
    std::set<std::string> ours;
};

inline const std::vector<cast>& all_casts() {
    static const std::vector<cast> all{{"InThePlaceOfBoth", {client1, client2}},
                                       {"InThePlaceOfTheFirst", {client1}},
                                       {"InThePlaceOfTheSecond", {client2}},
                                       {"RedissonAlone", {}}};
    return all;
}

/// As a GoogleTest name may be.
inline std::string as_test_name(std::string text) {
    for (char& letter : text)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return text;
}

/// Replays one scenario on a server whose clock is its own, with our client in the place of those
/// in `ours`, and compares replies, results, messages and state with what was recorded.
class player {
public:
    player(support::redis_server& server, std::set<std::string> ours);

    /// Reports differences as failures of the running test.
    void play(const scenario&);

    /// Why a scenario says nothing about us in these parts; empty: it does.
    std::string objection_to(const scenario&) const;

private:
    void play(const step&);
    void run_commands(const step&);
    void run_one(const command&, const step&);
    void wait_for_ends(const step&);
    void compare_ends(const step&, const std::vector<client::outcome>&);
    void compare_state(const step&);
    void compare_holds(const std::string& name, const json::object& recorded, bool is_new);
    std::int64_t slowness(const std::string& name, std::int64_t recorded_least);
    void compare_tokens(const std::string& name, const json::object& recorded);
    std::vector<support::message> expected_messages(const step&);
    std::int64_t tokens_saved() const;
    void compare_queue(const std::string& name, const json::object& recorded);
    void compare_deadlines(const std::string& name, const json::object& recorded);
    std::string with_our_owners(std::string text) const;
    command with_our_owners(command) const;
    bool is_ours(const std::string& by) const;
    bool is_of_nothing(const command&) const;
    bool refused(const step&);

    client* one_of_us(const std::string& by);
    void advance(duration);
    void settle();

    support::redis_server& server_;
    redisson redisson_;
    support::listener messages_;
    std::vector<std::unique_ptr<client>> ours_;
    std::vector<client::outcome> ended_;
    json::object state_; // as recorded last
    bool is_fair_ = false;

    /// The least that was left of a hold when it was looked at last, as recorded; and when, by the
    /// machine's clock, the step began in which that was last prolonged.
    struct prolonged {
        std::int64_t least = 0;
        std::chrono::steady_clock::time_point at{};
    };
    std::map<std::string, prolonged> prolonged_; // by name
    std::chrono::steady_clock::time_point step_began_{};
};

} // namespace holdfast::trace
