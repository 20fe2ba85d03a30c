// SPDX-License-Identifier: Apache-2.0
// Functions that read the replies of scripts. They refuse a reply of an unexpected form, because
// the reply may come from a proxy or from another program's script. Also functions that check the
// confirmation by replicas, and reports about missing permissions.
#pragma once

#include "redis/node.hpp"
#include "store/redis/lock_requests.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/error.hpp>
#include <holdfast/store.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

[[noreturn]] inline void throw_unexpected_answer() {
    throw boost::system::system_error{make_error_code(store_errc::protocol),
                                      "an answer that no script of holdfast gives"};
}

inline std::int64_t integer(const reply& answer) {
    if (answer.type != reply::kind::integer)
        throw_unexpected_answer();
    return answer.integer;
}

/// Reads a reply that must be an integer from 0 to `last`. Throws if the reply has another form.
inline std::int64_t integer_up_to(std::int64_t last, const reply& answer) {
    const std::int64_t said = integer(answer);
    if (said < 0 || said > last)
        throw_unexpected_answer();
    return said;
}

inline const std::string& text(const reply& answer) {
    if (answer.type != reply::kind::text)
        throw_unexpected_answer();
    return answer.text;
}

inline const std::vector<reply>& items(const reply& answer) {
    if (answer.type != reply::kind::array)
        throw_unexpected_answer();
    return answer.items;
}

/// Reads a reply that must be a list of `count` items, and returns the items. Throws if the reply
/// has another form.
inline const std::vector<reply>& items(const reply& answer, std::size_t count) {
    if (items(answer).size() != count)
        throw_unexpected_answer();
    return answer.items;
}

/// Reads a reply that must be a list of `Count` integers, and returns them. Throws if the reply has
/// another form.
template <std::size_t Count>
std::array<std::int64_t, Count> integers(const reply& answer) {
    const std::vector<reply>& said = items(answer, Count);
    std::array<std::int64_t, Count> values{};
    for (std::size_t i = 0; i < Count; ++i)
        values[i] = integer(said[i]);
    return values;
}

/// Returns the result of `read`. If the reply has an unexpected form, closes the connection,
/// because its later replies may belong to earlier requests.
template <typename Read>
auto checked(node& from, const reply& answer, Read read) {
    try {
        return read(answer);
    } catch (const boost::system::system_error& why) {
        if (why.code() == store_errc::protocol)
            from.distrust(answer);
        throw;
    }
}

// Confirmation by replicas. If a grant must survive a failover, it is valid only after enough
// replicas have confirmed it.

/// Returns the options of a request that replicas must confirm. The wait for the replicas is at
/// most a third of the lease.
inline call_options confirmed_by(std::uint8_t replicas, duration lease) {
    return {.replicas = replicas, .replicas_within = std::max(lease / 3, duration{1})};
}

/// Copies three things to the attempt: the times of the reply, the clock estimate of the reply's
/// connection, and the number of replicas that confirmed the write.
void came_by(const reply&, remote::attempt&);

/// Returns whether enough replicas confirmed the attempt. If not, stores the reason in
/// `unconfirmed`. The result `refused` means that the server refuses the command WAIT, so a retry
/// does not help.
enum class confirmation { enough, missing, refused };
confirmation judge_confirmation(remote::attempt&, std::uint8_t replicas);

/// Throws `not_replicated` if too few replicas confirmed the change. The server has executed the
/// change even if this function throws.
void require_confirmed(remote::attempt, std::uint8_t replicas);

/// Throws the error for a grant that replicas cannot confirm, because the server refuses WAIT.
/// `was_left` says whether the grant was released again. If so, the error is the server's refusal,
/// because a retry does not help. If not, the error is `not_replicated`.
[[noreturn]] void fail_refused(const remote::attempt&, const std::string& refusal, bool was_left);

/// Checks whether enough replicas confirmed a grant. If the server refuses WAIT, calls `leave` to
/// release the grant. Then throws `refused` if the server acknowledged the release, or else
/// `not_replicated`.
template <typename Leave>
asio::awaitable<void> confirm(remote::attempt& got, std::uint8_t replicas, Leave leave) {
    if (got.said != remote::verdict::granted)
        co_return;
    const std::string refusal = got.unconfirmed;
    if (judge_confirmation(got, replicas) != confirmation::refused)
        co_return;
    bool left = true;
    try {
        co_await leave();
    } catch (const boost::system::system_error&) {
        left = false;
    }
    fail_refused(got, refusal, left);
}

// Functions that read the replies of scripts that take, release and renew locks.

/// Returns the attempt that a reply describes. The reply is a list of numbers: the verdict, the
/// remaining ms of the hold that keeps the lock busy (-1: no expiry), the server's time in µs, and
/// possibly more. `last` is the greatest verdict that this script can return.
template <std::size_t Count = 3>
attempt attempt_in(const reply& answer, verdict last = verdict::late) {
    const std::array<std::int64_t, Count> numbers = integers<Count>(answer);
    attempt outcome;
    outcome.said =
        static_cast<verdict>(integer_up_to(static_cast<std::int64_t>(last), answer.items[0]));
    if (outcome.said == verdict::busy && numbers[1] >= 0)
        outcome.left = duration{numbers[1]};
    outcome.server_now = std::chrono::microseconds{numbers[2]};
    came_by(answer, outcome);
    return outcome;
}

inline released released_in(const reply& answer) {
    const auto [was_ours, receivers] = integers<2>(answer);
    return {integer_up_to(1, answer.items[0]) == 1, receivers < 0, receivers, answer.moves};
}

/// Returns the options for a request that renews several holds. If the renewal extends no lease,
/// replicas need not confirm it.
inline call_options options_of(hold_list holds, const renewal_options& how) {
    const bool extends = how.lease_time > duration::zero();
    call_options options =
        confirmed_by(extends ? holds.front()->replicas : std::uint8_t{0}, how.lease_time);
    options.answer_by = how.answer_by;
    options.elsewhere = how.elsewhere;
    options.reserved = true;
    options.divisible = true;
    return options;
}

/// Sends the script of a renewal. If `at` names a server of a cluster, sends the lock names as
/// arguments and not as keys, because all keys of a script must be in one slot.
inline asio::awaitable<reply> ask_for_holds(node& server, std::optional<shard> at,
                                            const script& what,
                                            const std::vector<std::string_view>& names,
                                            std::vector<argument>& arguments,
                                            const call_options& options) {
    if (!at)
        return server.call(what, names, arguments, options);
    arguments.insert(arguments.end(), names.begin(), names.end());
    return server.call_at(*at, what, arguments, options);
}

/// If too few replicas confirmed the renewal, stores the reason in `unconfirmed`.
inline void note_confirmation(const reply& said, hold_list holds, const renewal_options& how,
                              renewed_holds& all) {
    if (how.lease_time > duration::zero()) {
        attempt confirmed;
        came_by(said, confirmed);
        judge_confirmation(confirmed, holds.front()->replicas);
        all.unconfirmed = std::move(confirmed.unconfirmed);
    }
}

inline renewed_holds held_in(const reply& said, hold_list holds, const renewal_options& how,
                             std::optional<shard> at) {
    const standing last = at ? standing::elsewhere : standing::held;
    renewed_holds all;
    all.each.reserve(holds.size());
    for (const reply& each : items(said, holds.size()))
        all.each.push_back(
            static_cast<standing>(integer_up_to(static_cast<std::int64_t>(last), each)));
    note_confirmation(said, holds, how, all);
    return all;
}

/// Reads a reply that has one number for each hold. If the hold still exists, its number is the
/// remaining lease in ms plus `left_from`.
inline renewed_holds held_and_left_in(const reply& said, hold_list holds,
                                      const renewal_options& how, std::optional<shard> at) {
    constexpr std::int64_t left_from = 3, most = std::int64_t{1} << 53;
    renewed_holds all;
    for (const reply& each : items(said, holds.size())) {
        const std::int64_t number = integer_up_to(most, each);
        const bool is_gone = number == static_cast<std::int64_t>(standing::gone);
        const bool is_elsewhere = number == static_cast<std::int64_t>(standing::elsewhere);
        if (number < left_from && !is_gone && !(is_elsewhere && at))
            throw_unexpected_answer();
        all.each.push_back(is_gone        ? standing::gone
                           : is_elsewhere ? standing::elsewhere
                                          : standing::held);
        all.left_before.emplace_back(std::max<std::int64_t>(number - left_from, 0));
    }
    note_confirmation(said, holds, how, all);
    return all;
}

/// Returns the start that all owner texts of a client share.
inline std::string client_part(const owner_id& owner) {
    std::string text = to_string(owner);
    text.erase(text.find(':') + 1);
    return text;
}

/// Returns the end of the hash field that stores a write hold. The start of the field is the
/// client's UUID.
inline std::string write_field(std::uint64_t number) {
    return std::to_string(number) + ":write";
}

/// Texts that explain what happens without the permission for TIME or PUBLISH. They have no period
/// at the end, because some callers append the missing permission.
inline constexpr const char* late_without_time =
    "TIME is denied. If a request arrives late, the server can lock a name for a client that has "
    "given up. The name then stays locked until the lease ends";
inline constexpr const char* no_wake_without_publish =
    "A release does not wake waiting clients. They find a free lock only when they ask again";

/// Returns the permissions that a user needs to send these publish commands, in the syntax of ACL
/// SETUSER.
std::string rights_to_tell(const publishing&, const channel_name&);

/// Reports missing permissions that make locks work less well, but not fail. Reports each of them
/// once to the user's observer.
class missing_permissions {
public:
    /// Both arguments must outlive this object.
    missing_permissions(const node& server, const store_context& context)
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
