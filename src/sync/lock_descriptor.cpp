// SPDX-License-Identifier: Apache-2.0
#include "sync/lock_descriptor.hpp"

#include "sync/engine.hpp"
#include "sync/retry_policy.hpp"

#include <string_view>

namespace holdfast::sync {

lock_descriptor::lock_descriptor(std::shared_ptr<engine> e, lock_name n, duration l,
                                 const detail::lock_setup& how)
    : home{std::move(e)}
    , name{std::move(n)}
    , kind{how.kind}
    , lease{l}
    , again{how.again}
    , deferred{how.deferred}
    , polls{how.polls}
    , outlasts{how.outlasts.value_or(duration::zero())}
    , numbers{how.numbers}
    , replicas{static_cast<std::uint8_t>(how.replicas.value_or(0))} {}

asio::awaitable<std::shared_ptr<lock_handle>>
lock_descriptor::take(std::shared_ptr<acquisition>) const {
    co_return nullptr; // only locks that consist of several locks override this function
}

namespace {

/// Returns whether the found hold belongs to the side of a shared lock that the caller uses. The
/// readers' side reports only read holds, and the writers' side only write holds.
bool is_of_its_side(const holding& found, lock_kind kind) {
    if (kind == lock_kind::read)
        return found.shared;
    return kind != lock_kind::write || found.alone;
}

/// Returns the lock kind that error texts name for a found hold.
lock_kind kind_of(const holding& found) {
    switch (found.kind) {
    case key_kind::read_write_lock:
        return lock_kind::read;
    case key_kind::token_lock:
        return lock_kind::token;
    default:
        return lock_kind::plain;
    }
}

void refuse_other_kind(const holding& found, lock_kind kind) {
    const bool is_pair = kind == lock_kind::read || kind == lock_kind::write;
    if (is_pair && !found.kind_is_certain)
        return;
    const char* const wanted = words_for(kind);
    const std::string there =
        found.kind == key_kind::other ? found.other : words_for(kind_of(found));
    if (there != wanted)
        throw_wrong_type(there, wanted);
}

} // namespace

asio::awaitable<std::optional<holding>> lock_descriptor::inspect() const {
    std::optional<holding> found = co_await home->operators_view().inspect(name);
    if (found)
        refuse_other_kind(*found, kind);
    if (found && !is_of_its_side(*found, kind))
        found.reset();
    co_return found;
}

namespace {

/// Returns whether the text is the owner of a hold of a holdfast client: `uuid:number`, with the
/// mark of holdfast in the UUID. A store may add `:write` for a writer.
bool is_owner_of_holdfast(std::string_view text) {
    constexpr std::string_view digits = "0123456789", mark = "-8fd5-", of_writer = ":write";
    constexpr std::size_t mark_at = 13, uuid_size = 36;
    if (text.ends_with(of_writer))
        text.remove_suffix(of_writer.size());
    return text.size() > uuid_size + 1 && text.substr(mark_at, mark.size()) == mark &&
           text[uuid_size] == ':' && text.find_first_not_of(digits, uuid_size + 1) == text.npos;
}

} // namespace

std::function<asio::awaitable<bool>()> lock_descriptor::forcing() const {
    return [this] { return home->force_kind(name, kind); };
}

asio::awaitable<bool> force_through_failover(std::shared_ptr<const lock_descriptor> lock) {
    asio::awaitable<bool> forced = outlast_failover(lock->home, lock->forcing(), is_undone);
    co_return co_await std::move(forced);
}

asio::awaitable<bool> force_through_failover(std::shared_ptr<engine> home, lock_name name,
                                             std::string only_from) {
    const bool is_unique = is_owner_of_holdfast(only_from);
    bool is_uncertain = false; // true: the store may have executed an earlier request
    auto force = [&]() -> asio::awaitable<bool> {
        try {
            const bool was_locked = co_await home->force_unlock(name, only_from);
            co_return was_locked || is_uncertain;
        } catch (const boost::system::system_error& e) {
            is_uncertain = is_uncertain || e.code() == errc::outcome_unknown;
            if (is_uncertain && is_retryable(e.code()))
                throw worded_error{{make_error_code(errc::outcome_unknown), e.what()}};
            throw;
        }
    };
    asio::awaitable<bool> forced =
        outlast_failover(home, std::move(force), is_unique ? is_retryable : is_undone);
    co_return co_await std::move(forced);
}

request request_for(std::shared_ptr<const lock_descriptor> of, duration timeout,
                    std::optional<duration> wanted_lease) {
    const duration lease = wanted_lease.value_or(of->lease);
    const duration rounding =
        timeout > duration::zero() ? of->home->clock_rounding() : duration::zero();
    const time_point give_up_at =
        later(later(of->home->now(), std::max(timeout, duration::zero())), rounding);
    return request{.of = std::move(of),
                   .lease = lease,
                   .renewed = !wanted_lease,
                   .patient = timeout > duration::zero(),
                   .give_up_at = give_up_at};
}

} // namespace holdfast::sync
