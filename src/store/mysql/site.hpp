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

/// Context of all requests (`site`). It outlives the requests.
struct site {
    database& server;
    const store_context& context;
    tables named;
    std::string schema;
    std::string table; ///< name of the first table, as in the options
    std::string info;  ///< who this client is, for people
    std::uint64_t attempts_made = 0;

    /// Returns a unique value that an attempt writes into a row. Its later statements find the row
    /// by it.
    std::string next_mark(const owner_id& owner) {
        return to_string(owner) + '#' + std::to_string(++attempts_made);
    }
    std::string bell(const lock_name& name) const { return bell_of(schema, table, name); }
};

/// Statements that a function makes. Give the object a name before a co_await: g++ 12 needs that.
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

/// Returns the answer to the statement with that index. Throws `store_errc::protocol` if it is
/// missing.
const result& answer_at(const answers&, std::size_t which);

/// Returns a value of a row. Throws `store_errc::protocol` if it is NULL, missing or not a number.
std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column);
const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column);

/// Returns what an attempt's UPDATE says by its insert id, with the times of its answer. An attempt
/// that met a row lock of another transaction counts as busy, without a known end. Throws
/// `store_errc::wrong_type` if another kind has the name.
attempt attempt_in(const answers&, std::size_t update_at, lock_kind wanted);

/// Returns a granted attempt with the server time from the answer of that index. It also updates
/// the estimate of the server's clock.
attempt clock_in(const answers&, std::size_t which);

/// Returns whether the attempt found no row for the name.
bool found_no_row(const answers&, std::size_t update_at);

} // namespace holdfast::mysql
