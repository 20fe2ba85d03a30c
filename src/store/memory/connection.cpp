// SPDX-License-Identifier: Apache-2.0
#include "store/memory/connection.hpp"

#include "runtime/background.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast::memory {
namespace {

/// Longest wait for the confirmation of a write by replicas: one second, as on Redis. The wait is
/// shorter if a second would be too much of the request's time limit.
constexpr duration longest_confirmation{1000};

/// Returns a function that posts work to the executor, as `store_context::post` does. This function
/// is used if the context has no such function, for example in tests that use the store without a
/// client.
std::function<bool(asio::any_completion_handler<void()>)> post_to(asio::any_io_executor executor) {
    return [executor = std::move(executor)](auto work) {
        asio::post(executor, std::move(work));
        return true;
    };
}

} // namespace

server_connection::server_connection(std::shared_ptr<server_group> servers, const way& how,
                                     const store_context& context)
    : group_{std::move(servers)}
    , server_{group_->last_announced().primary}
    , term_{group_->last_announced().term}
    , faults_{how.faults}
    , notices_{how.notices}
    , command_timeout_{how.command_timeout}
    , session_time_{group_->session_time()}
    , home_{context}
    , post_{context.post ? context.post : post_to(context.executor)} {
    connect();
}

server_connection::~server_connection() {
    group_->forget(listener_);
}

void server_connection::begin() {
    listener_ = group_->listen(
        [weak = weak_from_this(), post = post_](const server_group::announcement& said) {
            (void)post([weak, said] {
                if (const std::shared_ptr<server_connection> self = weak.lock())
                    self->hear_of(said);
            });
        });
}

void server_connection::close() noexcept {
    closed_ = true;
    group_->forget(listener_);
    for (alarm* const sleeper : sleepers_)
        sleeper->ring();
}

fate server_connection::decide(sent_request what) const {
    if (!faults_ || closed_)
        return {};
    what.to = server_->number;
    return faults_(what);
}

/// Returns how many replicas must confirm a request, and how long to wait for them. The wait takes
/// at most half of the request's remaining time, so that the reply can still arrive in time.
server_connection::confirmation server_connection::confirmation_for(const sent_request& what,
                                                                    time_point answer_by) const {
    if (!group_->has_replicas())
        return {};
    duration within = std::min(longest_confirmation, command_timeout_ / 3);
    if (what.lease_time > duration::zero())
        within = std::min(within, what.lease_time / 3);
    if (answer_by < time_point::max())
        within = std::min(within, std::max((answer_by - now()) / 2, duration::zero()));
    return {.replicas = what.replicas, .within = within};
}

void server_connection::await_confirmation(std::shared_ptr<server_state> there, std::uint64_t write,
                                           confirmation wanted,
                                           std::function<void(std::string)> told) {
    const bool was_demoted = there->demotions() > wanted.demotions_before;
    const unsigned count = was_demoted ? 0 : there->confirmed(write);
    if (count >= wanted.replicas)
        return told({});
    if (now() >= wanted.until || was_demoted)
        return told(std::to_string(count) + " of " + std::to_string(wanted.replicas) +
                    " replicas confirmed within " + std::to_string(wanted.within.count()) + " ms");
    const time_point next = std::min(wanted.until, there->next_confirmation());
    at(next, [this, there, write, wanted, told = std::move(told)]() mutable {
        await_confirmation(there, write, wanted, std::move(told));
    });
}

void server_connection::deliver(const pending_request& one) {
    if (one.receiver)
        one.receiver->ring();
}

void server_connection::when_it_goes_on(server_state& there, std::function<void()> act) {
    there.when_it_goes_on([weak = weak_from_this(), post = post_, act = std::move(act)] {
        (void)post([weak, act] {
            const std::shared_ptr<server_connection> self = weak.lock();
            if (self && !self->closed_)
                act();
        });
    });
}

/// Moves the connection to the announced primary, after the delay that the test has set.
void server_connection::hear_of(const server_group::announcement& said) {
    if (closed_)
        return;
    const std::optional<duration> after = notices_ ? notices_() : std::optional{duration::zero()};
    if (after)
        at(now() + *after, [this, said] { move_to(said, "it was announced"); });
}

/// Moves the connection to the last announced primary. Call this function if a machine has refused
/// a write because the machine is a replica.
void server_connection::ask_for_primary() {
    move_to(group_->last_announced(), "the old one is a replica now");
}

void server_connection::move_to(const server_group::announcement& said,
                                std::string_view who_said_so) {
    if (closed_ || said.term <= term_)
        return;
    term_ = said.term;
    if (said.primary == server_)
        return;
    server_ = said.primary;
    met_ = false;
    forgets_before_ = time_point::min();
    connect();
    for (pending_request* const each : under_way_) {
        each->cut = true;
        deliver(*each);
    }
    for (subscriber* const each : subscribers_)
        each->move_to(server_);
    event moved{.kind = event_kind::moved};
    moved.name = server_->id().data();
    moved.name_size = server_->id().size();
    moved.text = who_said_so.data();
    moved.text_size = who_said_so.size();
    if (home_.tell)
        home_.tell(moved);
    if (home_.revalidate)
        home_.revalidate({}, true);
}

/// Opens a connection. Resets the estimate of the server's clock, which may come from another
/// server.
void server_connection::connect() {
    server_clock_ = std::make_shared<runtime::remote_clock>();
    server_clock_->learn(now(), now(), server_->now());
    give_up_connection();
}

/// Ends this connection. The client's next request opens another connection to the same machine.
void server_connection::give_up_connection() {
    ++connection_;
    last_write_ = 0;
}

void server_connection::at(time_point when, std::function<void()> act) {
    if (when <= now())
        return act();
    runtime::run_in_background(home_, act_later(shared_from_this(), when, std::move(act)));
}

asio::awaitable<void> server_connection::act_later(std::shared_ptr<server_connection> self,
                                                   time_point when, std::function<void()> act) {
    if (self->closed_) // the clock may not exist any more
        co_return;
    const std::unique_ptr<alarm> nap = self->home_.time.make_alarm();
    co_await self->rest(*nap, when);
    if (!self->closed_)
        act();
}

asio::awaitable<void> server_connection::nap(duration length) {
    const std::unique_ptr<alarm> sleep = home_.time.make_alarm();
    co_await rest(*sleep, now() + length);
}

asio::awaitable<void> server_connection::rest(alarm& wake, time_point until) {
    struct registered {
        registered(std::list<alarm*>& a, alarm& one)
            : all{a}
            , entry{all.insert(all.end(), &one)} {}
        registered(const registered&) = delete;
        ~registered() { all.erase(entry); }
        std::list<alarm*>& all;
        std::list<alarm*>::iterator entry;
    };
    const registered rung_by_close{sleepers_, wake};
    co_await wake.wait_until(until);
}

void fail_closed() {
    throw boost::system::system_error{make_error_code(errc::closed)};
}
void fail_unreachable() {
    throw boost::system::system_error{make_error_code(errc::unreachable)};
}
void fail_outcome_unknown() {
    throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
}

void fail_overloaded() {
    throw boost::system::system_error{make_error_code(errc::overloaded)};
}
void fail_denied() {
    throw boost::system::system_error{make_error_code(errc::refused)};
}

namespace {

/// Pause between two attempts to release a hold, in ms.
constexpr duration orphans_pause{500};

asio::awaitable<release_answer> release_once(server_connection& way, const hold& what) {
    const sent_request asked{{verb::release, what.name.text, {&what, 1}}};
    std::function<release_answer(server_state&)> execute = [what](server_state& server) {
        return server.release(what);
    };
    return way.call(asked, std::move(execute), said_only<release_answer>);
}

} // namespace

bool orphans::is_left(const hold& what) const {
    return std::ranges::any_of(left_, [&](const hold& each) { return each.owner == what.owner; });
}

void orphans::keep(const hold& what) {
    if (!server_connection_->keeps_orphans() || server_connection_->closed() || is_left(what))
        return;
    left_.push_back(what);
    runtime::run_in_background(context_, release(shared_from_this(), what));
}

void orphans::forget(const hold& what) {
    std::erase_if(left_, [&what](const hold& each) { return each.owner == what.owner; });
}

/// Repeats the release of a hold until the server acknowledges it. Each hold has its own loop, so
/// that a release without a reply does not delay other releases.
asio::awaitable<void> orphans::release(std::shared_ptr<orphans> self, hold what) {
    while (self->is_left(what) && !self->server_connection_->closed()) {
        co_await self->server_connection_->nap(orphans_pause);
        if (!self->is_left(what) || self->server_connection_->closed())
            break;
        try {
            (void)co_await release_once(*self->server_connection_, what);
            self->forget(what);
        } catch (const boost::system::system_error&) {
            continue; // try again after the pause
        }
    }
}

namespace {

asio::awaitable<release_answer> release_and_keep(std::shared_ptr<server_connection> way,
                                                 std::shared_ptr<orphans> left, hold what) {
    try {
        const release_answer said = co_await release_once(*way, what);
        left->forget(what);
        co_return said;
    } catch (const boost::system::system_error&) {
        left->keep(what);
        throw;
    }
}

} // namespace

asio::awaitable<release_answer> release_or_keep(std::shared_ptr<server_connection> way,
                                                std::shared_ptr<orphans> left, hold what) {
    if (!way->keeps_orphans())
        return release_once(*way, what);
    return release_and_keep(std::move(way), std::move(left), std::move(what));
}

} // namespace holdfast::memory
