// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::mysql {

/// That connection gives back the bell of that lock, in the background; or it is cut.
void ring_off(site&, const lock_name&, std::shared_ptr<carrier> on);

/// The user locks of this client's holds: on which connection each is. They are hints: who waits
/// for one asks the row, whatever it is told.
class bells {
public:
    /// It must outlive it.
    explicit bells(site& at)
        : at_{at} {}

    /// That connection has it while the lock is held, for so long unless it is extended.
    void keep(const hold&, std::shared_ptr<carrier>, time_point until);
    void extend(const hold&, time_point until);

    /// For a release, which gives it back. Null: there is none.
    std::shared_ptr<carrier> take_out(const hold&);

    /// The hold is lost: its bell is given back, or its connection cut.
    void drop(const hold&);

    /// Gives back those of holds whose ends nobody told.
    void drop_old();

private:
    struct kept {
        std::shared_ptr<carrier> on;
        time_point until;
    };
    using key = std::pair<std::string, std::uint64_t>;
    static key key_of(const hold& held) { return {held.name.text, held.owner.number}; }
    void give_back(const std::string& name, std::shared_ptr<carrier>);

    site& at_;
    std::map<key, kept> all_;
    time_point next_check_{};
};

} // namespace holdfast::mysql
