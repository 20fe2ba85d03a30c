// SPDX-License-Identifier: Apache-2.0
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/counter.hpp"

#include <holdfast/basic_counter.hpp>

namespace holdfast {
namespace {

using shared_counter = std::shared_ptr<const sync::counter_subject>;

/// Change of a counter that does not wait for permits. It is checked on the executor, so that the
/// handler of an asynchronous function gets the error.
struct errand {
    counter_verb verb;
    std::int64_t amount = 0;
    std::optional<duration> kept{};
};

asio::awaitable<counter_answer> answer_to(shared_counter of, errand what) {
    const std::optional<counter_change> wanted =
        front::checked_change(*of, what.verb, what.amount, what.kept);
    counter_answer nothing_to_do;
    if (!wanted)
        co_return nothing_to_do;
    counter_change once = *wanted;
    const counter_answer said = co_await sync::change(of->home, std::move(once));
    co_return said;
}

asio::awaitable<void> do_it(shared_counter of, errand what) {
    (void)co_await answer_to(std::move(of), what);
}

asio::awaitable<bool> is_done(shared_counter of, errand what) {
    const counter_answer said = co_await answer_to(std::move(of), what);
    co_return said.done;
}

asio::awaitable<std::int64_t> number_from(shared_counter of, errand what) {
    const counter_answer said = co_await answer_to(std::move(of), what);
    co_return said.value;
}

asio::awaitable<std::int64_t> value_at(shared_counter of) {
    const counter_state found = co_await of->home->counters()->inspect(of->name, of->what);
    co_return found.value;
}

/// Returns whether the call takes nothing and succeeds at once.
bool is_for_nothing(const sync::counter_subject& of, std::int64_t amount) {
    return of.what != counter_kind::latch && amount == 0;
}

asio::awaitable<void> nothing() {
    co_return;
}

asio::awaitable<bool> nothing_taken() {
    co_return true;
}

} // namespace

basic_counter::basic_counter(client& home, lock_name name, const detail::counter_setup& how)
    : counter_{front::make_counter(home.engine(), name, how)} {}

basic_counter::~basic_counter() = default;

bool basic_counter::take(detail::counter_wish how) const {
    // Keeps the counter alive: at exit() a waiting thread may outlive this object.
    const shared_counter of = counter_;
    front::throw_if(front::objection_to_blocking(*of->home));
    const std::int64_t amount = front::checked_take(*of, how.amount);
    if (is_for_nothing(*of, amount))
        return true;
    sync::request what = front::request_for(of, amount, how.patience);
    return front::outcome_of(std::move(what), how.cancel).counted;
}

counter_answer basic_counter::change(counter_verb verb, std::int64_t amount,
                                     std::optional<duration> kept) const {
    const shared_counter of = counter_;
    front::throw_if(front::objection_to_blocking(*of->home));
    std::optional<counter_change> what = front::checked_change(*of, verb, amount, kept);
    return what ? front::change(*of, std::move(*what)) : counter_answer{};
}

std::int64_t basic_counter::value() const {
    return front::wait_for(counter_->home, value_at(counter_));
}

bool basic_counter::erase() const {
    return change(counter_verb::erase).done;
}

void basic_counter::start_take(shared_counter of, std::int64_t amount,
                               detail::done_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec);
    if (is_for_nothing(*of, amount))
        return front::start(home, nothing(), std::move(handler));
    auto deliver = [](front::awaited<detail::done_handler>& waiting, const sync::outcome& got) {
        waiting.complete(got.why.code);
    };
    front::start_call(home, std::move(handler), deliver, [&] {
        return front::request_for(of, front::checked_take(*of, amount), duration::max());
    });
}

void basic_counter::start_try(shared_counter of, std::int64_t amount, duration patience,
                              detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec, false);
    if (is_for_nothing(*of, amount))
        return front::start(home, nothing_taken(), std::move(handler));
    auto deliver = [](front::awaited<detail::flag_handler>& waiting, const sync::outcome& got) {
        waiting.complete(got.why.code, bool{got.counted});
    };
    front::start_call(home, std::move(handler), deliver, [&] {
        return front::request_for(of, front::checked_take(*of, amount), patience);
    });
}

void basic_counter::start_change(shared_counter of, counter_verb verb, std::int64_t amount,
                                 detail::done_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, do_it(std::move(of), {verb, amount}), std::move(handler));
}

void basic_counter::start_flag(shared_counter of, counter_verb verb, std::int64_t amount,
                               std::optional<duration> kept, detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, is_done(std::move(of), {verb, amount, kept}), std::move(handler));
}

void basic_counter::start_number(shared_counter of, counter_verb verb,
                                 detail::number_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, number_from(std::move(of), {verb}), std::move(handler));
}

void basic_counter::start_value(shared_counter of, detail::number_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, value_at(std::move(of)), std::move(handler));
}

} // namespace holdfast
