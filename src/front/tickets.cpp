// SPDX-License-Identifier: Apache-2.0
// Public functions that detach a hold, and functions of `client` that adopt, renew and release a
// detached hold.
#include "config/errors.hpp"
#include "config/validation.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"
#include "front/requests.hpp"
#include "sync/adoption.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/ticket.hpp>

namespace holdfast {
namespace {

using engine_pointer = std::shared_ptr<sync::engine>;

/// Checks that the client's store can have a detached hold of the ticket's kind, and that the store
/// allows the name. The name in the ticket is the name at the store.
void check_ticket(const engine_pointer& home, const ticket& from, bool adopts) {
    check(from);
    if (home->bounds().by_session)
        refuse("this store ends a hold together with the client's session, so it has no tickets");
    const bool is_there = home->ask_store([&](store& all) {
        if (!all.locks().offers(from.kind))
            refuse(front::words_on_missing(from.kind));
        if (adopts && !all.locks().transfers(from.kind))
            refuse(std::string{"this store cannot give a hold of "} + words_for(from.kind) +
                   " to another client; renew or give the ticket instead");
        (void)checked_name(from.name, all.locks());
    });
    if (!is_there)
        throw front::worded_error{front::closed()};
}

hold hold_of(const engine_pointer& home, const ticket& from) {
    check_ticket(home, from, false);
    hold what{lock_name{from.name}, from.owner, from.kind};
    what.permits = from.permits;
    what.replicas =
        static_cast<std::uint8_t>(checked_replicas(home->how().required_replicas, home->bounds()));
    return what;
}

asio::awaitable<lease> adopt_hold(engine_pointer home, ticket from,
                                  std::optional<lease_time> length) {
    check_ticket(home, from, true);
    detail::lock_setup setup{.kind = from.kind};
    setup.replicas = checked_replicas(home->how().required_replicas, home->bounds());
    const duration wanted = length ? length->value : home->how().lease_time;
    const auto of = std::make_shared<const sync::lock_descriptor>(
        home, lock_name{from.name}, checked_lease(wanted, home->bounds()), setup);
    co_return lease{co_await sync::adopt(of, std::move(from))};
}

asio::awaitable<bool> renew_hold(engine_pointer home, ticket which, lease_time length) {
    const hold what = hold_of(home, which);
    const duration wanted = checked_lease(length.value, home->bounds());
    co_return co_await sync::renew_detached(home, what, wanted);
}

asio::awaitable<bool> give_hold(engine_pointer home, ticket which) {
    const hold what = hold_of(home, which);
    co_return co_await sync::release_detached(home, what);
}

asio::awaitable<ticket> detach_hold(std::shared_ptr<sync::lock_handle> held) {
    asio::awaitable<ticket> made = held->detach();
    co_return co_await std::move(made);
}

asio::awaitable<ticket> detach_lease(lease from) {
    asio::awaitable<ticket> made = from.hold()->detach();
    co_return co_await std::move(made);
}

} // namespace

ticket lease::detach() {
    if (!hold_)
        throw front::worded_error{{make_error_code(errc::not_owner), "this lease holds nothing"}};
    ticket made = front::wait_for(hold_->home, detach_hold(hold_));
    hold_.reset();
    return made;
}

void lease::start_detach(lease from,
                         asio::any_completion_handler<void(error_code, ticket)> handler) {
    if (!from.hold())
        return front::complete_elsewhere(std::move(handler), make_error_code(errc::not_owner),
                                         ticket{});
    const engine_pointer home = from.hold()->home;
    front::start(home, detach_lease(std::move(from)), std::move(handler));
}

lease client::adopt(const ticket& from, std::optional<lease_time> length) {
    return front::wait_for(engine_, adopt_hold(engine_, from, length));
}

bool client::renew(const ticket& which, lease_time length) {
    return front::wait_for(engine_, renew_hold(engine_, which, length));
}

bool client::give(const ticket& which) {
    return front::wait_for(engine_, give_hold(engine_, which));
}

void client::start_adopt(engine_pointer engine, ticket from, std::optional<lease_time> length,
                         asio::any_completion_handler<void(error_code, lease)> handler) {
    front::start(engine, adopt_hold(engine, std::move(from), length), std::move(handler));
}

void client::start_renew(engine_pointer engine, ticket which, lease_time length,
                         asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(engine, renew_hold(engine, std::move(which), length), std::move(handler));
}

void client::start_give(engine_pointer engine, ticket which,
                        asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(engine, give_hold(engine, std::move(which)), std::move(handler));
}

} // namespace holdfast
