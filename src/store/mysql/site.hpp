// SPDX-License-Identifier: Apache-2.0
// What every request of one client needs, and how it is sent.
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

/// All of it outlives the requests.
struct site {
    database& server;
    const store_context& context;
    tables named;
    std::string schema;
    std::string table; ///< the first, as the options have it
    std::string info;  ///< who this client is, for people
    std::uint64_t attempts_made = 0;

    /// Used once: what one attempt writes into a row, so that the rest of it finds that.
    std::string next_mark(const owner_id& owner) {
        return to_string(owner) + '#' + std::to_string(++attempts_made);
    }
    std::string bell(const lock_name& name) const { return bell_of(schema, table, name); }
};

/// Statements that a function makes. It has a name of its own where it is awaited: g++ 12.
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

/// The answer that a request must have: its statement of that number has one.
const result& answer_at(const answers&, std::size_t which);

/// A value of a row. NULL and what is no number: `store_errc::protocol`.
std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column);
const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column);

/// Returns what an attempt's UPDATE says by its insert id, with the times of its answer. An attempt
/// that met a lock of another transaction found it busy, and nobody tells when that ends. Throws
/// `store_errc::wrong_type` if another kind has the name.
attempt attempt_in(const answers&, std::size_t update_at, lock_kind wanted);

/// Granted, at the time that the statement of that number tells, with what is known of the server's
/// clock from then on.
attempt clock_in(const answers&, std::size_t which);

/// There is no such row.
bool found_no_row(const answers&, std::size_t update_at);

} // namespace holdfast::mysql
