// SPDX-License-Identifier: Apache-2.0
// Checker: nothing is left behind: no hold without an owner, no subscription, no local queue, no
// task, no timer.
#pragma once

#include "sim/world.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

class left_behind {
public:
    explicit left_behind(world& w);

    void look();
    void sent(const seat&, const memory::request&, const memory::fate&);
    void closed(const seat&);
    void at_peace();
    void at_the_end();

private:
    /// Holds on the server that no caller wants, with the time since when.
    using ghosts = std::map<std::string, time_point>;
    /// Requests that were sent for an owner number.
    struct record {
        time_point looked_at{};  ///< time of the last attempt
        int looked_to = 0;       ///< the server that received it
        time_point settles_at{}; ///< time by which it has had its effect, or is known to have
                                 ///< failed
        bool copied = false;     ///< a copy of its attempt may arrive after its release
        bool left = false;       ///< a release was sent
    };

    bool wanted(int name, const std::string& owner) const;
    bool of_closed_program(const std::string& owner) const;
    void watch(int name, ghosts&);
    void check(int name, const std::string& owner, time_point since);
    void watch_places(int name);
    bool may_be_of_old_primary(const record&) const;
    bool somebody_waits(int client, int name) const;
    duration settled_within(int name, const std::string& owner) const;
    void check_rest(const char* when);
    void check_engine(const sync::engine&, const std::string& of);
    void fail(int name, std::string story);

    world& world_;
    std::vector<ghosts> ghosts_;                         ///< by name
    by_text<time_point> empty_places_;                   ///< places in queues without a waiter,
                                                         ///< with the time since when; by owner
    by_text<record> records_;                            ///< by owner
    std::map<std::pair<int, int>, std::string> newest_;  ///< newest owner of an attempt, by client
                                                         ///< and name
    std::set<std::string, std::less<>> closed_;          ///< identities of closed clients
    std::vector<std::shared_ptr<sync::engine>> engines_; ///< of programs that were closed
};

} // namespace holdfast::sim
