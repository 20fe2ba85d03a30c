// SPDX-License-Identifier: Apache-2.0
// Events that the engine reports to the user's observer.
#include "sync/engine.hpp"

#include <boost/asio/post.hpp>

#include <string_view>
#include <utility>

namespace holdfast::sync {
namespace {

std::int64_t microseconds(duration d) {
    return std::chrono::microseconds{d}.count();
}

/// Returns the number of the equal `errc` value, or 0 if the code equals none.
std::int32_t number_of(const error_code& ec) {
    const error_condition meaning = ec.default_error_condition();
    const bool ours = meaning.category() == make_error_condition(errc::closed).category();
    return ours ? meaning.value() : 0;
}

void add_failure(event& e, const error_code& code, std::string_view text) {
    e.code = number_of(code);
    e.text = text.data();
    e.text_size = text.size();
}

event event_about(std::string_view name, event_kind kind, event_cause cause, duration length) {
    event e{.kind = kind, .cause = cause};
    e.name = name.data();
    e.name_size = name.size();
    e.duration_us = microseconds(length);
    return e;
}

} // namespace

// Reports an event. On a borrowed thread (a caller's thread that runs its own operation), the event
// is stored and reported later. Later events wait behind it, so the observer gets all events in
// order.
void engine::tell(const event& e) {
    if (!how_.observer)
        return;
    if (untold_.empty() && !borrowed())
        return how_.observer->notify(e);
    untold_.emplace_back(e);
    if (untold_.size() == 1)
        asio::post(executor(), [self = shared_from_this()] { self->tell_untold(); });
}

void engine::tell_untold() {
    for (; !untold_.empty(); untold_.pop_front())
        how_.observer->notify(untold_.front().view());
}

void engine::tell_of(const wire_hold& held, event_kind kind, event_cause cause, duration length,
                     const boost::system::system_error* failed) {
    if (!how_.observer)
        return;
    event e = event_about(held.what.name.text, kind, cause, length);
    e.owner_number = held.what.owner.number;
    if (failed)
        add_failure(e, failed->code(), failed->what());
    tell(e);
}

void engine::tell_of(const tenure& held, event_kind kind, event_cause cause, duration length) {
    if (how_.observer)
        tell(event_about(held.name(), kind, cause, length));
}

void engine::tell_of_count(const acquisition& call) {
    if (how_.observer)
        tell(event_about(call.name(), event_kind::acquired, event_cause::none,
                         now() - call.started_at));
}

void engine::tell_lost(wire_hold& held, event_cause why) {
    if (!std::exchange(held.told_lost, true))
        tell_of(held, event_kind::lost, why, now() - held.granted_at);
}

void engine::tell_of_wait(const acquisition& call, event_cause cause, const failure& why) {
    if (!how_.observer || !call.wanted.takes)
        return;
    event e = event_about(call.name(), event_kind::waited, cause, now() - call.started_at);
    if (why.code)
        add_failure(e, why.code, why.text);
    tell(e);
}

} // namespace holdfast::sync
