// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/kinds.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the rights that these publish commands need, as ACL SETUSER spells them.
std::string rights_to_tell(const publishing&, const channel_name&);

/// Reports rights that the user lacks and that locks can do without, at a price. The observer is
/// told once for each, with the missing right.
class denials {
public:
    /// Both arguments must outlive this object.
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
