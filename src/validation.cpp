// SPDX-License-Identifier: Apache-2.0
#include "validation.hpp"

#include "refusal.hpp"

namespace holdfast {
namespace {

std::string in_words(duration length) {
    constexpr duration day = std::chrono::hours{24};
    if (length >= 2 * day && length % day == duration::zero())
        return std::to_string(length / day) + " days";
    return std::to_string(length.count()) + " ms";
}

std::string objection_to_lease(duration length, const limits& allowed) {
    if (length >= allowed.lease_min && length <= allowed.lease_max)
        return {};
    return " is " + in_words(length) + "; allowed are " + in_words(allowed.lease_min) + " to " +
           in_words(allowed.lease_max) + ", in whole milliseconds";
}

void refuse_if(const std::string& subject, const std::string& objection) {
    if (!objection.empty())
        refuse(subject + objection);
}

void check_positive(const char* field, duration length) {
    if (length <= duration::zero())
        refuse(std::string{"options."} + field + " is " + in_words(length) +
               "; it must be longer than nothing");
}

void check_patience(const char* field, duration length) {
    if (length < duration::zero())
        refuse(std::string{"options."} + field + " is " + in_words(length) +
               "; it must not be negative (0: no patience at all)");
}

} // namespace

void check(const options& how) {
    refuse_if("options.lease_time", objection_to_lease(how.lease_time, limits{}));
    if (how.max_hold)
        check_positive("max_hold", *how.max_hold);
    check_patience("unavailable_patience", how.unavailable_patience);
    check_patience("release_patience", how.release_patience);
    check_patience("close_patience", how.close_patience);
    check_positive("poll_bound", how.poll_bound);
    check_patience("hand_off.within", how.hand_off.within);
    if (how.waiters_max == 0)
        refuse("options.waiters_max is 0: no call could ever wait");
    if (how.name_mapper && !how.prefix.empty())
        refuse("options.prefix and options.name_mapper are both given; the mapper can add the "
               "prefix");
}

duration checked_lease(duration length, const limits& allowed) {
    refuse_if("the lease time", objection_to_lease(length, allowed));
    return length;
}

std::string checked_name(std::string_view mapped, const lock_store& store) {
    const lock_name name{mapped};
    if (const auto objection = store.objection_to(name))
        refuse("lock name " + in_quotes(mapped) + ": " + *objection);
    return name.text;
}

} // namespace holdfast
