// SPDX-License-Identifier: Apache-2.0
#include "redis/request.hpp"

#include "redis/wire/classify.hpp"
#include "redis/wire/rights.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

/// Returns the deadline on the server's clock, in microseconds. Returns 0 if there is no estimate
/// of the server's clock; 0 switches the deadline off.
std::int64_t on_server(server_deadline deadline, const runtime::remote_clock& clock) {
    const auto moment = clock.no_later_than(deadline.at);
    return moment ? moment->count() : 0;
}

} // namespace

void compose_wait(composer out, std::uint8_t replicas, duration within) {
    out.begin(3);
    out.word("WAIT");
    out.number(replicas);
    out.number(std::max<std::int64_t>(within.count(), 1)); // for WAIT, 0 means no timeout
}

void require_confirmation(const reply& answer) {
    const bool is_count = answer.type == reply::kind::integer && answer.integer >= 0;
    if (!is_count && answer.type != reply::kind::error)
        throw net::failure{store_errc::protocol, "an answer that WAIT does not give"};
}

void note_confirmation(reply& of, const reply& answer) {
    if (answer.type == reply::kind::error)
        of.confirmation_refused = answer.text;
    else
        of.confirmed = answer.integer;
}

void request::compose(composer out, const runtime::remote_clock& clock) const {
    if (wishes.asking)
        out.request({"ASKING"});
    if (&what == &plain_command) {
        out.begin(keys.size());
        for (const std::string_view word : keys)
            out.word(word);
        return;
    }
    out.begin(3 + keys.size() + arguments.size());
    out.word(with_text ? "EVAL" : "EVALSHA");
    out.word(with_text ? what.text : what.sha1);
    out.number(static_cast<std::int64_t>(keys.size()));
    for (const std::string_view key : keys)
        out.word(key);
    for (const argument& one : arguments) {
        if (const auto* text = std::get_if<std::string_view>(&one))
            out.word(*text);
        else if (const auto* number = std::get_if<std::int64_t>(&one))
            out.number(*number);
        else
            out.number(on_server(std::get<server_deadline>(one), clock));
    }
}

reply request::take_answer() {
    if (failed)
        throw net::failure{*failed};
    if (answer.type == reply::kind::error && was_unblocked(answer.text))
        throw net::failure{errc::outcome_unknown, answer.text};
    if (answer.type == reply::kind::error)
        throw net::failure{classify(answer.text),
                           with_missing_right(answer.text, missing_right(answer.text, what, keys))};
    return std::move(answer);
}

} // namespace holdfast::redis
