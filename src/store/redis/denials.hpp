// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/kinds.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// What telling by these commands needs, as ACL SETUSER spells it.
std::string rights_to_tell(const publishing&, const channel_name&);

/// What a server denies and locks can do without, at a price: the observer is told once of
/// each, with the right that is missing.
class denials {
public:
    /// Both must outlive it.
    denials(const node& server, const store_context& context)
        : server_{server}
        , context_{context} {}

    void note(const hold&, const attempt&);
    void note(const hold&, const released&);

private:
    void tell(const lock_name&, std::string_view text) const;

    const node& server_;
    const store_context& context_;
    bool time_told_ = false;
    bool publish_told_ = false;
};

} // namespace holdfast::redis
