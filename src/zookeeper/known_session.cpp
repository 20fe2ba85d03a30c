// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/known_session.hpp"

#include <algorithm>

namespace holdfast::zookeeper {
namespace {

/// Lower bound of the timeout in the client's calculations, in milliseconds. No ensemble should
/// grant less. The heartbeat period is a twelfth of the timeout and must not be zero.
constexpr duration timeout_least{12};

} // namespace

void known_session::opened(const welcome& said, time_point sent_at) {
    *this = {};
    id = said.id;
    password = said.password;
    timeout = std::max(duration{said.timeout_ms}, timeout_least);
    last_sent = sent_at;
    term.opened(sent_at, duration{said.timeout_ms});
}

void known_session::resumed(const welcome& said, time_point sent_at) {
    password = said.password;
    timeout = std::max(duration{said.timeout_ms}, timeout_least);
    last_sent = sent_at;
    term.resumed(sent_at, duration{said.timeout_ms});
}

void known_session::saw(std::int64_t zxid) {
    last_zxid = std::max(last_zxid, zxid);
}

greeting known_session::to_greet(duration wanted) const {
    return {.last_zxid = last_zxid,
            .timeout_ms = static_cast<std::int32_t>((exists() ? timeout : wanted).count()),
            .id = id,
            .password = password};
}

} // namespace holdfast::zookeeper
