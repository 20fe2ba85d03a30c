// SPDX-License-Identifier: Apache-2.0
#include "net/presence.hpp"

namespace holdfast::net {
namespace {

/// Returns `refused` if the code is equal to `refused`, otherwise `unreachable`.
errc meaning_of(const error_code& code) {
    return code == errc::refused ? errc::refused : errc::unreachable;
}

void tell(const store_context& home, const std::string& address, event_kind kind,
          const failure& why) {
    if (!home.tell)
        return;
    home.tell({.kind = kind,
               .cause = event_cause::failed,
               .name = address.data(),
               .name_size = address.size(),
               .code = static_cast<std::int32_t>(meaning_of(why.code())),
               .text = why.text().data(),
               .text_size = why.text().size()});
}

} // namespace

void tell_impaired(const store_context& home, const std::string& address, const failure& why) {
    tell(home, address, event_kind::impaired, why);
}

void presence::gone(const std::string& address, const failure& why) {
    if (gone_since_)
        return;
    gone_since_ = home_.time.now();
    tell(home_, address, event_kind::disconnected, why);
}

void presence::back(const std::string& address) {
    if (!gone_since_)
        return;
    const std::chrono::microseconds away = home_.time.now() - *gone_since_;
    gone_since_.reset();
    if (home_.tell)
        home_.tell({.kind = event_kind::reconnected,
                    .name = address.data(),
                    .name_size = address.size(),
                    .duration_us = away.count()});
}

} // namespace holdfast::net
