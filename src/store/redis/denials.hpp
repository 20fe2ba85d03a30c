// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/kinds.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the rights that these publish commands need, in the syntax of ACL SETUSER.
std::string rights_to_tell(const publishing&, const channel_name&);

/// Reports missing rights that locks can do without, at a price. The observer is told of each
/// missing right once.
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
