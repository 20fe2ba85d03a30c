// SPDX-License-Identifier: Apache-2.0
// Checker: after its calls have ended, a client leaves no hold, subscription, local queue, task or
// timer behind.
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
    /// Owners of holds on the server that no caller wants, with the time since then.
    using ghosts = std::map<std::string, time_point>;
    /// Requests for one owner.
    struct record {
        time_point looked_at{}; ///< time of the last attempt that was not lost
        time_point first_looked_at = time_point::max(); ///< time of the first such attempt
        int looked_to = 0;                              ///< server that received the last attempt
        /// time after which no request can have an effect any more
        time_point settles_at{};
        bool copied = false; ///< a second copy of an attempt may arrive after the release
        bool left = false;   ///< whether a release was sent
    };

    bool wanted(int name, const std::string& owner) const;
    bool of_closed_program(const std::string& owner) const;
    void watch(int name, ghosts&);
    void check(int name, const std::string& owner, time_point since);
    void watch_places(int name);
    bool may_be_of_old_primary(const record&) const;
    bool somebody_waits(int client, int name) const;
    duration copied_expiry_excess(const record&) const;
    duration settled_within(int name, const std::string& owner) const;
    void check_rest(const char* when);
    void check_engine(const sync::engine&, const std::string& of);
    void fail(int name, std::string story);

    world& world_;
    std::vector<ghosts> ghosts_; ///< unwanted holds of each name
    /// time since which an entry in a queue has no waiter, by owner
    by_text<time_point> empty_places_;
    by_text<record> records_; ///< requests of each owner
    /// owner of the newest attempt, by client and name
    std::map<std::pair<int, int>, std::string> newest_;
    std::set<std::string, std::less<>> closed_;          ///< identities of closed clients
    std::vector<std::shared_ptr<sync::engine>> engines_; ///< engines (the library's internal state)
                                                         ///< of closed programs
};

} // namespace holdfast::sim
