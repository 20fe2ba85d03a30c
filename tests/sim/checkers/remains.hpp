// SPDX-License-Identifier: Apache-2.0
// Of an attempt that failed, a lease that was lost, and a vote that came too late, nothing stays on
// any server for long; and nobody keeps one lock while he waits for another.
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
        time_point settles_at{}; ///< by then what was sent has had its effect, or has failed
        bool copied = false;     ///< a copy of its look may come after its release
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
    std::map<std::pair<spot, std::string>, time_point> unwanted_; ///< since when
    std::vector<std::pair<spot, std::string>> believed_;          ///< now, with the owner
    by_text<record> records_;                                     ///< by owner
    std::set<std::string> abandoned_;                             ///< owners, likewise
    std::set<std::string, std::less<>> closed_;                   ///< identities
    std::vector<std::shared_ptr<sync::engine>> engines_;          ///< of clients that were closed
};

} // namespace holdfast::sim::several
