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
        time_point settles_at{}; ///< time by which the requests have had their effect, or have
                                 ///< failed
        bool copied = false;     ///< a copy of its attempt may arrive after its release
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
    std::map<std::pair<spot, std::string>, time_point> unwanted_; ///< time since when
    std::vector<std::pair<spot, std::string>> believed_;          ///< now, with the owner
    by_text<record> records_;                                     ///< by owner
    std::set<std::string> abandoned_;                             ///< owners, as above
    std::set<std::string, std::less<>> closed_;                   ///< identities of closed clients
    std::vector<std::shared_ptr<sync::engine>> engines_;          ///< of clients that were closed
};

} // namespace holdfast::sim::several
