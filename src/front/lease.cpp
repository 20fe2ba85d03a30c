// SPDX-License-Identifier: Apache-2.0
#include "config/validation.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"

#include <holdfast/lease.hpp>

namespace holdfast {
namespace {

using shared_lock_handle = std::shared_ptr<sync::lock_handle>;

/// Drops one lease's share of a hold, and returns the whole hold, which the caller then releases.
shared_lock_handle whole_of(shared_lock_handle share) {
    return share ? share->whole() : nullptr;
}

void release_unwatched(shared_lock_handle share) {
    shared_lock_handle held = whole_of(std::move(share));
    const std::shared_ptr<sync::engine> home = held->home;
    auto let_go = [held = std::move(held)] {
        held->release(sync::release_handler{[](const sync::failure&) {}}, held->home->executor());
    };
    (void)home->executor_access().post(std::move(let_go));
}

/// Returns a handler that passes the error code to the user's handler, on the executor of that
/// handler.
template <typename Handler>
sync::release_handler deliver(Handler handler, const std::shared_ptr<sync::engine>& home) {
    return sync::release_handler{
        [waiting = front::awaited{std::move(handler), home->executor()},
         home](const sync::failure& why) mutable { waiting.complete(why.code); }};
}

std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

/// Returns why an asynchronous function cannot begin: the lease holds nothing, or no work can be
/// posted to the executor.
error_code objection(const shared_lock_handle& held) {
    if (!held)
        return make_error_code(errc::not_owner);
    return front::objection_to_posting(*held->home);
}

} // namespace

lease::lease(std::shared_ptr<sync::lock_handle> held) noexcept
    : hold_{std::move(held)} {}

lease& lease::operator=(lease&& other) noexcept {
    lease dropped{std::move(hold_)};
    hold_ = std::move(other.hold_);
    return *this;
}

lease::~lease() {
    if (hold_ && !hold_->home->forked() && !hold_->home->stopped())
        release_unwatched(std::move(hold_));
}

bool lease::owns_lock() const noexcept {
    return hold_ && !hold_->home->forked() && hold_->is_valid();
}

std::stop_token lease::lost() const {
    if (!hold_)
        return {};
    return hold_->home->forked() ? stopped() : hold_->lost();
}

std::stop_token lease::in_danger() const {
    if (!hold_)
        return {};
    return hold_->home->forked() ? stopped() : hold_->in_danger();
}

std::stop_token lease::asked() const {
    return hold_ && !hold_->home->forked() ? hold_->asked() : std::stop_token{};
}

std::optional<wish> lease::received_wish() const {
    return hold_ && !hold_->home->forked() ? hold_->received_wish() : std::nullopt;
}

duration lease::remaining() const noexcept {
    return owns_lock() ? hold_->remaining() : duration::zero();
}

std::string_view lease::name() const noexcept {
    return hold_ ? hold_->name() : std::string_view{};
}

std::string lease::owner() const {
    return hold_ ? hold_->owner() : std::string{};
}

std::uint64_t lease::fencing_token() const noexcept {
    return hold_ ? hold_->token() : 0;
}

// Returns the ids of the permits. A program that knows an id can release the permit at any later
// time. So on release, these permits go back to the store, and are not handed over within the
// client.
std::vector<std::string> lease::permit_ids() const {
    if (!hold_)
        return {};
    hold_->stay_with_its_holder();
    return hold_->permit_ids();
}

void lease::extend(lease_time length) {
    if (!hold_)
        throw front::worded_error{{make_error_code(errc::not_owner), "this lease holds nothing"}};
    front::throw_if(front::objection_to_blocking(*hold_));
    front::extend(hold_, checked_lease(length.value, hold_->home->bounds()));
}

void lease::start_extend(shared_lock_handle held, lease_time length,
                         asio::any_completion_handler<void(error_code)> handler) {
    if (const error_code ec = objection(held))
        return front::complete_elsewhere(std::move(handler), ec);
    const std::shared_ptr<sync::engine> home = held->home;
    auto done = deliver(std::move(handler), home);
    auto begin = [held = std::move(held), length, done = std::move(done)]() mutable {
        try {
            front::throw_if(held->home->stopped() ? front::closed() : sync::failure{});
            const duration wanted = checked_lease(length.value, held->home->bounds());
            held->extend(wanted, std::move(done));
        } catch (const boost::system::system_error& e) { // also thrown for an invalid length
            std::move(done)(sync::failure{e.code(), e.what()});
        }
    };
    asio::post(home->executor(), std::move(begin));
}

void lease::unlock() noexcept {
    error_code told_by_the_engine;
    unlock(told_by_the_engine);
}

void lease::unlock(error_code& ec) noexcept {
    const shared_lock_handle held = whole_of(std::move(hold_));
    ec = objection(held);
    if (!ec && held->home->stopped())
        ec = make_error_code(errc::closed);
    if (ec)
        return;
    if (front::runs_here(*held->home) || front::runs_one_of(held->homes_of_parts())) {
        ec = make_error_code(errc::would_deadlock); // the lock is released anyway, without waiting
        return release_unwatched(held);
    }
    if (held->deferred() && held->is_valid())
        return front::release_unwaited(held);
    ec = front::release(held).code;
}

void lease::start_unlock(shared_lock_handle share,
                         asio::any_completion_handler<void(error_code)> handler) {
    shared_lock_handle held = whole_of(std::move(share));
    if (const error_code ec = objection(held))
        return front::complete_elsewhere(std::move(handler), ec);
    const std::shared_ptr<sync::engine> home = held->home;
    auto begin = [held = std::move(held), done = deliver(std::move(handler), home)]() mutable {
        held->release(std::move(done), held->home->executor());
    };
    asio::post(home->executor(), std::move(begin));
}

} // namespace holdfast
