// SPDX-License-Identifier: Apache-2.0
#include "store/redis/request_slots.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast::redis {

request_slot request_slots::of(const lock_name& name, std::uint64_t request, time_point now) {
    book& all = names_[name.text];
    if (const auto known = all.requests.find(request); known != all.requests.end())
        return known->second.where;
    forget_the_old(all, now);
    if (all.slots.size() >= of_one_name_max)
        throw boost::system::system_error{
            make_error_code(errc::overloaded),
            std::to_string(of_one_name_max) +
                " requests of this client that change one counter are under way already"};
    std::int64_t lowest = 0;
    for (const std::int64_t taken : all.slots) {
        if (taken != lowest)
            break;
        ++lowest;
    }
    all.slots.insert(lowest);
    const request_slot where{lowest, ++last_number_};
    all.requests.emplace(request, ticket{where});
    return where;
}

void request_slots::over(const lock_name& name, std::uint64_t request) {
    const auto found = names_.find(name.text);
    if (found == names_.end())
        return;
    book& all = found->second;
    if (const auto known = all.requests.find(request); known != all.requests.end()) {
        all.slots.erase(known->second.where.slot);
        all.requests.erase(known);
    }
    if (all.requests.empty())
        names_.erase(found);
}

void request_slots::keep(const lock_name& name, std::uint64_t request, time_point until) {
    const auto found = names_.find(name.text);
    if (found == names_.end())
        return;
    const auto known = found->second.requests.find(request);
    if (known != found->second.requests.end())
        known->second.until = until;
}

std::size_t request_slots::under_way(const lock_name& name) const {
    const auto found = names_.find(name.text);
    return found == names_.end() ? 0 : found->second.requests.size();
}

/// A later request in the slot has a greater number, and whatever still comes of this one is late.
void request_slots::forget_the_old(book& all, time_point now) {
    for (auto each = all.requests.begin(); each != all.requests.end();) {
        if (each->second.until > now) {
            ++each;
            continue;
        }
        all.slots.erase(each->second.where.slot);
        each = all.requests.erase(each);
    }
}

} // namespace holdfast::redis
