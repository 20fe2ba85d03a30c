// SPDX-License-Identifier: Apache-2.0
// Counters on MySQL. The store has the counts of latches, and the total numbers of permits of
// leased semaphores. Also the waiter for a latch, and the SQL of a change.
#pragma once

#include "store/mysql/request_context.hpp"
#include "store/mysql/sql.hpp"
#include "store/mysql/waiting.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Store of the counts of latches and of the total numbers of permits of leased semaphores.
class mysql_counters final : public counter_store {
public:
    /// Creates the store. The arguments must outlive the store and all objects that it creates.
    mysql_counters(request_context& at, poller& polls)
        : at_{at}
        , poller_{polls} {}

    bool offers(counter_kind kind) const noexcept override {
        return kind == counter_kind::latch || kind == counter_kind::permits;
    }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override;
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    duration memory() const noexcept override { return at_.context.request_memory; }

private:
    request_context& at_;
    poller& poller_;
};

/// Waiter for a latch to open. A latch has no holds, so leave() releases nothing.
class latch_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    latch_place(request_context&, poller&, const counter_ask& want, alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;
    bool must_leave() const noexcept override { return false; }
    bool uncertain() const noexcept override { return false; }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> request();

    request_context& at_;
    poller& poller_;
    const ask want_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<watch> poll_;
};

/// Tries once to make a change before the deadline. If the server ran the request before the
/// deadline, stores the server's answer in `said`.
asio::awaitable<attempt> change_once(request_context&, const counter_change&, time_point deadline,
                                     duration memory, counter_answer& said);

// Functions that compute how a change affects a counter. They do no I/O.

/// State of a counter while its row is locked.
struct counter_now {
    /// Value of the counter. For permits, this is the total, which includes held permits. Empty if
    /// the counter does not exist.
    std::optional<std::int64_t> value{};
    std::int64_t held = 0;            ///< number of permits that are held
    bool that_permit_is_held = false; ///< true: the permit in the request is held
};

/// Values to write, and the answer for the caller.
struct counter_effect {
    counter_answer said{};
    bool changes = false; ///< true: the value changes
    /// The new value of the counter. Empty if the counter and all its holds must be deleted.
    std::optional<std::int64_t> value{};
    bool ends_permit = false;
    bool sets_lease = false;
};

counter_effect effect_of(const counter_change&, const counter_now&);

// SQL statements about counters: permit totals of semaphores, and counts of latches.

/// Returns the SQL condition that the counter in a row has not expired.
std::string living_counter();

/// Returns the number that stands for this kind in column `kind` of the counter table.
std::string kind_number(counter_kind);

/// Returns the SQL condition for the row of one counter: "name=… AND kind=…".
std::string counter_row(const lock_name&, counter_kind);

/// Returns the statements of the first half of a change, which run in an open transaction. They
/// write `mark` into the counter's row, which locks the row. Then they read the counter. If the
/// server has executed this request before, they also read the stored outcome. They delete old
/// outcomes. If the user lacks a privilege, one of these statements fails, so nothing is committed.
/// Only the privilege to insert an outcome is not checked here.
std::vector<std::string> change_begun(const tables&, const counter_change&,
                                      const std::string& mark);
inline constexpr std::size_t touched_at = 2, value_at = 3, outcome_at = 4, held_at = 5, time_at = 6,
                             kinds_at = 7;

/// Returns the statements of the second half of a change. The first one stores the outcome in a
/// row, which is kept for the time `memory`. It inserts no row if the deadline has passed, or if
/// the transaction of the first half has ended. The other statements make the change, but only if
/// the row was inserted.
std::vector<std::string> change_ended(const tables&, const counter_change&, const counter_effect&,
                                      const std::string& mark, const std::string& late,
                                      duration memory);

/// Returns a SELECT that returns a row if the latch is closed.
std::string latch_look(const tables&, const lock_name&);
/// Returns the SQL condition that the latch is open.
std::string latch_is_open(const tables&, const lock_name&);

/// Returns a SELECT of the counter's value and of the number of held permits. It returns no row if
/// the counter does not exist.
std::string counter_inspected(const tables&, const lock_name&, counter_kind);

/// Returns a SELECT of the names of counters that come after the name `behind`, in ascending order.
/// Omits semaphores without held permits.
std::string counters_listed(const tables&, counter_kind, const std::string& behind,
                            std::size_t at_most);

} // namespace holdfast::mysql
