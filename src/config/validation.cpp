// SPDX-License-Identifier: Apache-2.0
#include "config/validation.hpp"

#include "config/errors.hpp"

#include <algorithm>

namespace holdfast {
namespace {

constexpr duration day = std::chrono::hours{24};

struct range {
    duration least;
    duration most;
};
/// Smallest and greatest timeout. `duration::max()` means that the call waits for ever. Sums with
/// this value cannot overflow, because the addition stops at the greatest value.
constexpr range any_timeout{duration::zero(), duration::max()};
constexpr range any_length{duration{1}, duration::max()};
/// Smallest and greatest value for times that usually last some seconds. With a maximum of one day,
/// sums of these times cannot overflow.
constexpr range up_to_a_day{duration{1}, day};

std::string in_words(duration length) {
    if (length == duration::max())
        return "for ever (duration::max())";
    if (length >= day && length % day == duration::zero())
        return std::to_string(length / day) + (length == day ? " day" : " days");
    return std::to_string(length.count()) + " ms";
}

std::string objection_to_length(duration length, const range& allowed) {
    if (length >= allowed.least && length <= allowed.most)
        return {};
    return " is " + in_words(length) + "; allowed are " + in_words(allowed.least) + " to " +
           in_words(allowed.most) + ", in whole milliseconds";
}

void refuse_if(const std::string& subject, const std::string& objection) {
    if (!objection.empty())
        refuse(subject + objection);
}

/// Greatest number of required replicas that an option may have. No server has more replicas.
constexpr unsigned replicas_max = 100;

std::string objection_to_replicas(unsigned number, unsigned most = replicas_max) {
    if (number <= most)
        return {};
    return " is " + std::to_string(number) + "; allowed are 0 to " + std::to_string(most);
}

void check_length(const char* field, duration length, const range& allowed) {
    refuse_if(std::string{"options."} + field, objection_to_length(length, allowed));
}

} // namespace

void check(const options& how) {
    check_length("lease_time", how.lease_time, {limits{}.lease_min, limits{}.lease_max});
    if (how.max_hold)
        check_length("max_hold", *how.max_hold, any_length);
    if (how.unavailable_timeout)
        check_length("unavailable_timeout", *how.unavailable_timeout, any_timeout);
    check_length("release_timeout", how.release_timeout, any_timeout);
    check_length("close_timeout", how.close_timeout, any_timeout);
    check_length("poll_bound", how.poll_bound, up_to_a_day);
    check_length("hand_off.within", how.hand_off.within, {duration::zero(), day});
    refuse_if("options.required_replicas", objection_to_replicas(how.required_replicas));
    if (how.waiters_max == 0)
        refuse("options.waiters_max is 0: no call could ever wait");
    if (how.name_mapper && !how.prefix.empty())
        refuse("options.prefix and options.name_mapper are both given; the mapper can add the "
               "prefix");
}

duration checked_lease(duration length, const limits& allowed) {
    refuse_if("the lease time",
              objection_to_length(length, {allowed.lease_min, allowed.lease_max}));
    return length;
}

duration checked_keeping(duration length, const limits& allowed) {
    refuse_if("the time that a counter is kept",
              objection_to_length(length, {duration{1}, allowed.lease_max}));
    return length;
}

rate checked_rate(const rate& to, const limits& allowed) {
    checked_amount(to.permits, 1, counted_max, "the number of permits of a rate");
    refuse_if("the interval of a rate",
              objection_to_length(to.per, {duration{1}, allowed.lease_max}));
    if (to.scope != rate::scope_of::overall && to.scope != rate::scope_of::per_client)
        refuse("the scope of a rate must be overall or per_client");
    if (to.kept != duration::zero())
        refuse_if("the time that a rate limiter is kept",
                  objection_to_length(to.kept, {to.per, allowed.lease_max}));
    return to;
}

backoff checked_backoff(backoff polls) {
    const duration least{1}, most = std::chrono::minutes{1};
    refuse_if("the option polls.longest", objection_to_length(polls.longest, {least, most}));
    refuse_if("the option polls.first", objection_to_length(polls.first, {least, polls.longest}));
    return polls;
}

duration checked_node_timeout(duration length, duration lease) {
    const std::string objection =
        objection_to_length(length, {duration{1}, std::max(lease / 4, duration{1})});
    if (!objection.empty())
        refuse("quorum_options.node_timeout" + objection + " (a quarter of the lease at most)");
    return length;
}

unsigned checked_replicas(unsigned number, const limits& allowed) {
    if (number > 0 && allowed.replicas_max == 0)
        refuse("required_replicas is " + std::to_string(number) +
               "; the store of this client does not wait for replicas, so only 0 is allowed");
    const unsigned most = std::min<unsigned>(allowed.replicas_max, replicas_max);
    refuse_if("required_replicas", objection_to_replicas(number, most));
    return number;
}

duration checked_waiter_timeout(std::optional<duration> length, const options& how,
                                const limits& allowed) {
    constexpr duration usual = std::chrono::seconds{30}, longest = std::chrono::hours{1};
    const duration outage =
        std::min(how.unavailable_timeout.value_or(allowed.usual_outage), longest);
    const duration between_requests = how.poll_bound + 2 * allowed.time_limit;
    if (between_requests > longest)
        refuse("for a fair lock, poll_bound + 2 * command_timeout must be one hour at most; here "
               "it is " +
               in_words(between_requests));
    // Require a waiter timeout of at most one hour, even if the longest outage that a waiter
    // survives is longer. So a waiter that is disconnected for more than an hour always loses its
    // position in the queue.
    const duration least = std::min(between_requests + outage, longest);
    const duration wanted = length.value_or(std::max(usual, least));
    const std::string objection = objection_to_length(wanted, {least, longest});
    if (!objection.empty())
        refuse("fair_options.waiter_timeout" + objection +
               " (the least is poll_bound + unavailable_timeout + 2 * command_timeout, or one hour "
               "if that is less)");
    return wanted;
}

std::string checked_name(std::string_view mapped, const lock_store& store) {
    const lock_name name{mapped};
    if (const auto objection = store.objection_to(name))
        refuse("lock name " + in_quotes(mapped) + ": " + *objection);
    return name.text;
}

std::string checked_name(std::string_view mapped, const counter_store& store, counter_kind kind) {
    const lock_name name{mapped};
    if (const auto objection = store.objection_to(name, kind))
        refuse("name " + in_quotes(mapped) + ": " + *objection);
    return name.text;
}

std::int64_t checked_amount(std::int64_t amount, std::int64_t least, std::int64_t most,
                            const char* what) {
    if (amount < least || amount > most)
        refuse(std::string{what} + " is " + std::to_string(amount) + "; allowed are " +
               std::to_string(least) + " to " + std::to_string(most));
    return amount;
}

} // namespace holdfast
