// SPDX-License-Identifier: Apache-2.0
// The context that all requests of one client share, and functions that read their answers.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/names.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mysql {

using remote::attempt;
using remote::verdict;

/// Context that all requests of a store share. It outlives the requests.
struct site {
    database& server;
    const store_context& context;
    tables named;
    std::string schema;
    std::string table; ///< name of the first table, as in the options
    std::string info;  ///< description of this client for administrators
    std::uint64_t attempts_made = 0;

    /// Returns a unique value. An attempt writes it into a row, and its later statements find the
    /// row by this value.
    std::string next_mark(const owner_id& owner) {
        return to_string(owner) + '#' + std::to_string(++attempts_made);
    }
    std::string bell(const lock_name& name) const { return bell_of(schema, table, name); }
};

/// Statements that a function makes. Store the object in a named variable before a co_await,
/// because g++ 12 miscompiles temporaries there.
template <typename Make>
class composing final : public statements {
public:
    explicit composing(Make make)
        : make_{std::move(make)} {}
    std::vector<std::string> compose(const runtime::remote_clock& clock,
                                     const server_facts& facts) override {
        return make_(clock, facts);
    }

private:
    Make make_;
};

/// Returns the answer to the statement with the index `which`. Throws `store_errc::protocol` if the
/// answer is missing.
const result& answer_at(const answers&, std::size_t which);

/// Returns a number from a column of a row. Throws `store_errc::protocol` if the value is NULL,
/// missing or not a number.
std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column);
const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column);

/// Returns the result of an attempt from the insert id of its UPDATE, with the times of the answer.
/// If the attempt met a row lock of another transaction, the result is busy with an unknown
/// remaining time. Throws `store_errc::wrong_type` if another kind uses the name.
attempt attempt_in(const answers&, std::size_t update_at, lock_kind wanted);

/// Returns a granted attempt with the server's time from the answer `which`. Also updates the
/// estimate of the server's clock.
attempt clock_in(const answers&, std::size_t which);

/// Returns whether the table has no row for the name, according to the attempt's answer.
bool found_no_row(const answers&, std::size_t update_at);

} // namespace holdfast::mysql
