// SPDX-License-Identifier: Apache-2.0
// Checker: after a failed attempt, a lost lease or a late vote, nothing stays on a server for long.
// No caller keeps one lock while it waits for another.
#pragma once

#include "sim/several/realm.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim::several {

class remains {
public:
    explicit remains(realm& r)
        : realm_{r} {}

    void look();
    void sent(const memory::request&, const memory::fate&);
    void closed(const terminal&);
    void at_peace();
    void at_the_end();

private:
    struct record {
        /// time by which the requests have had their effect, or have certainly failed
        time_point settles_at{};
        bool copied = false; ///< a copy of the attempt may arrive after the owner's release
    };

    void watch(spot);
    void note_believed();
    bool believed(spot, const std::string& owner) const;
    bool is_of_closed(const std::string& owner) const;
    duration settled_within(spot, const terminal& home) const;
    void check_rest(const char* when);
    void check_engine(const sync::engine&, const std::string& of);
    void fail(int name, std::string story);

    realm& realm_;
    /// time at which each hold became unwanted
    std::map<std::pair<spot, std::string>, time_point> unwanted_;
    /// holds that a caller believes in now, with the owners
    std::vector<std::pair<spot, std::string>> believed_;
    by_text<record> records_; ///< requests of each owner
    /// owners without a caller, in the form of `records_`
    std::set<std::string> abandoned_;
    std::set<std::string, std::less<>> closed_;          ///< identities of closed clients
    std::vector<std::shared_ptr<sync::engine>> engines_; ///< engines of closed clients
};

} // namespace holdfast::sim::several
