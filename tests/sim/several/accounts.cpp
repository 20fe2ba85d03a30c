// SPDX-License-Identifier: Apache-2.0
#include "sim/several/accounts.hpp"

#include "compose/composite_hold.hpp"

#include <utility>

namespace holdfast::sim::several {

claim::claim(const deal& d, lease l, duration longest_asked)
    : how{d.how}
    , program{d.program}
    , actor{d.actor}
    , of{d.of}
    , generations{d.generations}
    , held{std::move(l)}
    , hold{held.hold().get()}
    , longest{longest_asked} {}

std::vector<share_of_claim> claim::shares() const {
    std::vector<share_of_claim> all;
    const auto* const joint = dynamic_cast<const compose::composite_hold*>(held.hold().get());
    if (!joint) {
        if (held.hold())
            all.push_back({of.front(), held.owner(), held.hold()->whole()});
        return all;
    }
    for (std::size_t which = 0; which < of.size(); ++which)
        if (std::shared_ptr<sync::lock_handle> one = joint->hold_of(which)) {
            std::string owner = one->owner();
            all.push_back({of[which], std::move(owner), std::move(one)});
        }
    return all;
}

} // namespace holdfast::sim::several
