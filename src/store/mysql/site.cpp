// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/site.hpp"

#include "net/failure.hpp"
#include "store/mysql/packed_answer.hpp"

#include <charconv>
#include <chrono>

namespace holdfast::mysql {
namespace {

[[noreturn]] void throw_unexpected(const char* what) {
    throw net::failure{store_errc::protocol, what};
}

} // namespace

const result& answer_at(const answers& said, std::size_t which) {
    if (which >= said.of.size())
        throw_unexpected("the server answered fewer statements than were sent");
    return said.of[which];
}

const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column) {
    if (column >= row.size() || !row[column])
        throw_unexpected("a value is missing in a row");
    return *row[column];
}

std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column) {
    const std::string& text = text_at(row, column);
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size())
        throw_unexpected("a value in a row is no number");
    return value;
}

attempt attempt_in(const answers& said, std::size_t update_at, lock_kind wanted) {
    const result& update = answer_at(said, update_at);
    attempt got;
    if (update.error != 0) { // the request allows an error only for this statement
        got.not_looked_at = true;
        got.holder_tells = false;
    } else {
        const packed_answer told = taken_apart(update.insert_id);
        if (told.other_kind)
            throw_wrong_type(told.other_kind, words_for(wanted));
        got.said = told.said;
        got.left = told.left;
        got.server_now = told.server_now;
        got.token = told.last_token;
    }
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    got.clock = said.clock;
    return got;
}

attempt clock_in(const answers& said, std::size_t which) {
    const auto& row = answer_at(said, which).rows.at(0);
    attempt got;
    got.said = verdict::granted;
    got.server_now = std::chrono::microseconds{number_at(row, 0)};
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    got.clock = said.clock;
    if (got.clock)
        got.clock->learn(got.sent_at, got.received_at, got.server_now);
    return got;
}

bool found_no_row(const answers& said, std::size_t update_at) {
    const result& update = answer_at(said, update_at);
    return update.error == 0 && update.insert_id == 0;
}

} // namespace holdfast::mysql
