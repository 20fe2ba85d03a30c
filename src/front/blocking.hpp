// SPDX-License-Identifier: Apache-2.0
// Blocking calls. Either the thread sleeps on its own semaphore while the client's executor runs
// the operation, or the thread runs the operation itself inside the client's monitor.
#pragma once

#include "front/guard.hpp"
#include "front/rendezvous.hpp"
#include "runtime/visit.hpp"
#include "sync/acquisition.hpp"
#include "sync/change.hpp"
#include "sync/counter_subject.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::front {

/// Returns this thread's stay (`visit`) inside that client's monitor, or null if the thread is not
/// inside.
inline runtime::visit* visit_at(const sync::engine& home) {
    const runtime::monitor* const entrance = entrance_of(home);
    return entrance ? runtime::visit::here(*entrance) : nullptr;
}

/// Returns the error for a thread that got no result because the executor does not run or has
/// ended. `begun`: the operation may be executed, now or later.
inline sync::failure unrun(const sync::engine& home, bool begun) {
    if (!home.stopped())
        return {make_error_code(errc::outcome_unknown),
                "nobody runs the client's executor, or what runs there does not return"};
    return {make_error_code(begun ? errc::outcome_unknown : errc::closed),
            "the client was closed, or its executor has ended"};
}

/// Runs `step(where)` inside the executor: on this thread if it may enter the monitor, else on the
/// background thread. Operations that `step` starts run on `where`. If the executor has ended,
/// `step` is dropped.
template <typename Step>
void begin(const std::shared_ptr<sync::engine>& home, Step step) {
    if (runtime::monitor* const entrance = entrance_of(*home))
        if (runtime::visit visitor{*entrance})
            return step(visitor.executor());
    (void)home->reach().post([home, step = std::move(step)]() mutable { step(home->executor()); });
}

class blocking_call final : public sync::acquisition {
public:
    explicit blocking_call(sync::request what)
        : acquisition{std::move(what)}
        , meeting_{*home} {}

    static void begin(const std::shared_ptr<blocking_call>& call) {
        auto step = [call](const asio::any_io_executor& where) {
            if (!call->meeting_.begin())
                return call->cancel(); // cancelled before any request
            call->visitor_ = visit_at(*call->home);
            call->home->start(call, where);
            call->visitor_ = nullptr;
        };
        if (!call->wanted.of->is_joint())
            return front::begin(call->home, std::move(step));
        // Always uses the background thread, because the calls to the members run there in any
        // case. If this thread entered the monitor, it would only delay them.
        (void)call->home->reach().post([call, step] { step(call->home->executor()); });
    }

    /// Cancels the call. Any thread.
    static void stop(const std::shared_ptr<blocking_call>& call) {
        (void)call->home->reach().post([call] { call->cancel(); });
        call->meeting_.hurry();
    }

    static sync::outcome wait(const std::shared_ptr<blocking_call>& call) {
        const duration patience = call->wanted.give_up_at == time_point::max()
                                      ? duration::max()
                                      : call->wanted.give_up_at - call->started_at;
        if (auto told = call->meeting_.wait_while_it_runs(std::max(patience, duration::zero())))
            return std::move(*told);
        (void)call->home->reach().post([call] { call->cancel(); });
        const bool begun = call->meeting_.had_begun();
        sync::failure why = unrun(*call->home, begun);
        if (!begun && why.code == errc::outcome_unknown)
            why.code = make_error_code(errc::unreachable);
        return {nullptr, std::move(why)};
    }

protected:
    void complete(sync::outcome got) override {
        if (visitor_ && visitor_ != visit_at(*home))
            // The call was cancelled or the client closed while the visitor waits for the store.
            visitor_->interrupt();
        std::shared_ptr<sync::tenure> held = got.held;
        const bool counted = got.counted;
        if (meeting_.bring(std::move(got), shared_from_this()))
            return;
        const lease unwanted{std::move(held)};
        if (counted)
            sync::give_back(static_cast<const sync::counter_subject&>(*wanted.of), wanted.amount);
    }

private:
    rendezvous<sync::outcome> meeting_;
    runtime::visit* visitor_ = nullptr; // the visit that runs the call, until its first sleep
};

/// Waits for the outcome of an acquire call. Throws its failure.
inline sync::outcome outcome_of(sync::request what, const std::stop_token& cancel) {
    const auto call = std::make_shared<blocking_call>(std::move(what));
    const std::stop_callback on_stop{cancel, [&call] { blocking_call::stop(call); }};
    blocking_call::begin(call);
    sync::outcome got = blocking_call::wait(call);
    throw_if(std::move(got.why));
    return got;
}

/// Waits for a hold on a lock. Null: busy. Throws the failure of the call.
inline std::shared_ptr<sync::tenure> acquire(sync::request what, const std::stop_token& cancel) {
    return outcome_of(std::move(what), cancel).held;
}

/// Runs `work(handler, where)` inside the executor, and waits until the handler is called.
template <typename Work>
sync::failure wait_for_handler(const std::shared_ptr<sync::engine>& home, duration patience,
                               Work work) {
    const auto meeting = std::make_shared<rendezvous<sync::failure>>(*home);
    begin(home, [work = std::move(work), meeting](const asio::any_io_executor& where) mutable {
        (void)meeting->begin(); // the work is done even if the thread stops waiting
        auto tell = [meeting](sync::failure why) { meeting->bring(std::move(why), meeting); };
        work(sync::release_handler{std::move(tell)}, where);
    });
    std::optional<sync::failure> told = meeting->wait_while_it_runs(patience);
    return told ? std::move(*told) : unrun(*home, meeting->had_begun());
}

inline sync::failure release(const std::shared_ptr<sync::tenure>& held) {
    auto work = [held](sync::release_handler done, const auto& where) {
        held->release(std::move(done), where);
    };
    return wait_for_handler(held->home, held->home->how().release_patience, std::move(work));
}

/// Releases a hold, but waits only until the request is on its way. If this thread sent the request
/// itself, the local wait queue (`gate`) opens at once, and the thread's next request follows the
/// release. If other clients wait, the gate stays closed, because they would otherwise never get
/// the lock. The next request of this thread then waits at the gate.
inline void release_unwaited(const std::shared_ptr<sync::tenure>& held) {
    held->announce_release();
    begin(held->home, [held](const asio::any_io_executor& where) {
        runtime::visit* const visitor = visit_at(*held->home);
        if (visitor)
            visitor->wait_for_nothing();
        held->release_unwaited(where, [visitor] { return visitor && visitor->sent_off(); });
    });
}

inline void extend(const std::shared_ptr<sync::tenure>& held, duration length) {
    throw_if(objection_to_blocking(*held));
    auto work = [held, length](sync::release_handler done, const auto&) {
        held->extend(length, std::move(done));
    };
    throw_if(wait_for_handler(held->home, duration::zero(), std::move(work)));
}

inline void confirm(const std::shared_ptr<sync::tenure>& held, unsigned replicas) {
    throw_if(objection_to_blocking(*held));
    auto work = [held, replicas](sync::release_handler done, const auto&) {
        held->confirm(replicas, std::move(done));
    };
    throw_if(wait_for_handler(held->home, duration::zero(), std::move(work)));
}

/// Executes a change of a counter, and waits for its reply. Throws the error of the change.
inline counter_answer change(const sync::counter_subject& counter, counter_change what) {
    using result = std::pair<sync::failure, counter_answer>;
    const std::shared_ptr<sync::engine>& home = counter.home;
    throw_if(objection_to_blocking(*home));
    const auto meeting = std::make_shared<rendezvous<result>>(*home);
    begin(home, [home, what = std::move(what), meeting](const auto& where) mutable {
        if (home->stopped() || !meeting->begin())
            return;
        auto tell = [meeting](sync::failure why, counter_answer said) {
            meeting->bring({std::move(why), said}, meeting);
        };
        sync::begin_change(home, std::move(what), sync::change_handler{std::move(tell)}, where);
    });
    std::optional<result> told = meeting->wait_while_it_runs(duration::zero());
    throw_if(told ? std::move(told->first) : unrun(*home, meeting->had_begun()));
    return told->second;
}

/// Runs `work`, unless the waiting thread has given up. In that case the work must not begin.
template <typename Meeting, typename T>
asio::awaitable<T> unless_given_up(std::shared_ptr<Meeting> meeting, asio::awaitable<T> work) {
    if (!meeting->begin())
        throw boost::system::system_error{asio::error::operation_aborted};
    co_return co_await std::move(work);
}

/// Runs a coroutine on the executor and waits for its result. Throws what the coroutine throws.
template <typename T>
T wait_for(const std::shared_ptr<sync::engine>& home, asio::awaitable<T> work) {
    throw_if(objection_to_blocking(*home));
    using result = std::pair<std::exception_ptr, T>;
    const auto meeting = std::make_shared<rendezvous<result>>(*home);
    auto told = [meeting, home](std::exception_ptr thrown, T value) {
        meeting->bring({std::move(thrown), std::move(value)}, meeting);
    };
    (void)home->reach().use([&](const asio::any_io_executor& to) {
        asio::co_spawn(to, unless_given_up(meeting, std::move(work)), std::move(told));
    });
    std::optional<result> got = meeting->wait_while_it_runs(duration::zero());
    if (!got)
        throw worded_error{unrun(*home, meeting->had_begun())};
    if (got->first)
        std::rethrow_exception(got->first);
    return std::move(got->second);
}

} // namespace holdfast::front
