// SPDX-License-Identifier: Apache-2.0
#include "redis/presence.hpp"

namespace holdfast::redis {
namespace {

/// A store's code is equal to exactly one of these.
errc meaning_of(const error_code& code) {
    return code == errc::refused ? errc::refused : errc::unreachable;
}

void tell(const node_context& context, event_kind kind, const failure& why) {
    if (!context.home.tell)
        return;
    context.home.tell({.kind = kind,
                       .cause = event_cause::failed,
                       .name = context.address.data(),
                       .name_size = context.address.size(),
                       .code = static_cast<std::int32_t>(meaning_of(why.code())),
                       .text = why.text().data(),
                       .text_size = why.text().size()});
}

} // namespace

void tell_impaired(const node_context& context, const failure& why) {
    tell(context, event_kind::impaired, why);
}

void presence::gone(const failure& why) {
    if (gone_since_)
        return;
    gone_since_ = context_.home.time.now();
    tell(context_, event_kind::disconnected, why);
}

void presence::back() {
    if (!gone_since_)
        return;
    const std::chrono::microseconds away = context_.home.time.now() - *gone_since_;
    gone_since_.reset();
    if (context_.home.tell)
        context_.home.tell({.kind = event_kind::reconnected,
                            .name = context_.address.data(),
                            .name_size = context_.address.size(),
                            .duration_us = away.count()});
}

} // namespace holdfast::redis
