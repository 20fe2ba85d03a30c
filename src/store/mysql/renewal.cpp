// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/renewal.hpp"

#include "net/deadlines.hpp"
#include "store/mysql/lock_statements.hpp"
#include "store/mysql/sql.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>

namespace holdfast::mysql {
namespace {

/// Maximum number of rows in a batch. A transaction with this number of rows takes the server a few
/// milliseconds.
constexpr std::size_t batch_max = 500;

/// Holds of one table that one transaction renews.
struct batch {
    kept_in where{};
    std::vector<std::size_t> places; ///< index of each hold in the caller's list
    std::vector<held_row> rows;
};

std::vector<batch> batches_of(hold_list holds) {
    std::vector<batch> full;
    std::map<kept_in, batch> open;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const kept_in where = verbs_of(holds[i]->kind)->where;
        batch& filling = open[where];
        filling.where = where;
        filling.places.push_back(i);
        std::ranges::move(rows_of(*holds[i]), std::back_inserter(filling.rows));
        if (filling.rows.size() >= batch_max)
            full.push_back(std::exchange(filling, {}));
    }
    for (auto& [where, rest] : open)
        if (!rest.places.empty())
            full.push_back(std::move(rest));
    return full;
}

class renewing {
public:
    renewing(request_context& at, wakeup_locks& all, hold_list holds, const renewal_options& how,
             renewal_sink& to)
        : at_{at}
        , bells_{all}
        , holds_{holds}
        , how_{how}
        , to_{to} {}

    asio::awaitable<void> run() {
        std::vector<batch> all = batches_of(holds_);
        if (all.size() == 1) {
            co_await renew(all.front());
            co_return;
        }
        const auto start = [this](const batch& some) {
            return asio::co_spawn(at_.context.executor, renew(some), asio::deferred);
        };
        std::vector<decltype(start(all.front()))> under_way;
        under_way.reserve(all.size());
        for (const batch& some : all)
            under_way.push_back(start(some));
        auto group = asio::experimental::make_parallel_group(std::move(under_way));
        auto outcomes =
            co_await group.async_wait(asio::experimental::wait_for_all{}, asio::use_awaitable);
        for (const std::exception_ptr& bug : std::get<1>(outcomes))
            if (bug)
                std::rethrow_exception(bug);
    }

private:
    using rows_left = std::map<held_row, duration>;

    asio::awaitable<void> renew(const batch& some) {
        std::optional<boost::system::system_error> failed;
        rows_left left;
        try {
            if (!asks_only())
                left = co_await prolong(some);
            if (left.size() < some.rows.size())
                co_await see_the_rest(some, left);
        } catch (const boost::system::system_error& why) {
            failed = why;
        }
        for (const std::size_t place : some.places) {
            if (failed)
                to_.failed(place, *failed);
            else
                report(place, left);
        }
    }

    call_options options() const {
        return {.answer_by = how_.answer_by, .elsewhere = how_.elsewhere, .reserved = true};
    }

    /// Extends the rows of the batch that no other transaction has locked. Returns the extended
    /// rows, with the whole lease as their remaining time.
    asio::awaitable<rows_left> prolong(const batch& some) {
        read_then_write both{at_, options()};
        const std::vector<std::string> locking{rows_locked(at_.named, some.where, some.rows)};
        const answers said = co_await both.begin(locking);
        std::vector<held_row> ours;
        for (const auto& row : answer_at(said, 0).rows)
            ours.push_back({text_at(row, 0), text_at(row, 1)});
        const read_then_write::maker prolonging = [&](const runtime::remote_clock&) {
            return std::vector{rows_prolonged(at_.named, some.where, ours, how_.lease_time)};
        };
        const answers done = co_await both.end(prolonging);
        rows_left left;
        // If some rows did not match, see_the_rest() asks about all rows of the batch.
        if (answer_at(done, 0).matched == ours.size())
            for (held_row& each : ours)
                left.emplace(std::move(each), how_.lease_time);
        co_return left;
    }

    /// Asks the server about the rows whose lease was not extended. There are two reasons: the hold
    /// is lost, or another transaction has locked the row. In the second case, the row is
    /// unchanged, so the hold still belongs to this client until the row expires.
    asio::awaitable<void> see_the_rest(const batch& some, rows_left& left) {
        std::vector<held_row> rest;
        for (const held_row& each : some.rows)
            if (!left.contains(each))
                rest.push_back(each);
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{rows_seen(at_.named, some.where, rest)};
        };
        composing seen{make};
        const answers said = co_await at_.server.run(seen, options());
        for (const auto& row : answer_at(said, 0).rows) {
            const std::chrono::microseconds until{number_at(row, 2)};
            const duration whole = std::chrono::floor<duration>(until);
            left.emplace(held_row{text_at(row, 0), text_at(row, 1)},
                         asks_only() ? whole : std::min(whole, how_.lease_time));
        }
    }

    void report(std::size_t place, const rows_left& left) {
        const hold& held = *holds_[place];
        duration term = asks_only() ? duration::max() : how_.lease_time;
        for (const held_row& each : rows_of(held)) {
            const auto found = left.find(each);
            if (found == left.end()) {
                bells_.drop(held);
                to_.renewed(place, answer{});
                return;
            }
            term = std::min(term, found->second);
        }
        answer said{.granted = true};
        if (asks_only()) {
            said.left_before = term;
        } else {
            said.term = term;
            bells_.extend(held, net::later(at_.context.time.now(), term));
        }
        to_.renewed(place, said);
    }

    /// Returns whether this renewal extends nothing and only asks for the remaining times.
    bool asks_only() const { return how_.lease_time == duration::zero(); }

    request_context& at_;
    wakeup_locks& bells_;
    hold_list holds_;
    const renewal_options& how_;
    renewal_sink& to_;
};

} // namespace

asio::awaitable<void> renew_holds(request_context& at, wakeup_locks& all, hold_list holds,
                                  const renewal_options& how, renewal_sink& to) {
    if (holds.empty())
        co_return;
    renewing them{at, all, holds, how, to};
    co_await them.run();
}

namespace {

const std::string& table_of(const tables& named, kept_in where) {
    return where == kept_in::locks ? named.locks : named.holds;
}

/// Returns an SQL condition that selects the given rows that have not expired. The condition uses
/// the primary keys.
std::string any_of(kept_in where, const std::vector<held_row>& rows) {
    const std::string kind = where == kept_in::locks     ? ""
                             : where == kept_in::readers ? " AND kind=0"
                                                         : " AND kind=2";
    std::string all = "(";
    for (const held_row& each : rows)
        all.append(all.size() > 1 ? " OR (name=" : "(name=")
            .append(hex(each.name))
            .append(kind)
            .append(" AND owner=")
            .append(hex(each.owner))
            .append(")");
    return all.append(") AND expires>").append(now_text);
}

} // namespace

std::vector<held_row> rows_of(const hold& held) {
    std::vector<held_row> rows;
    if (held.kind != lock_kind::permit)
        return {{held.name.text, to_string(held.owner)}};
    for (std::string& each : permit_rows(held))
        rows.push_back({held.name.text, std::move(each)});
    return rows;
}

std::string rows_locked(const tables& named, kept_in where, const std::vector<held_row>& rows) {
    return "SELECT name,owner FROM " + table_of(named, where) + " WHERE " + any_of(where, rows) +
           " FOR UPDATE SKIP LOCKED";
}

std::string rows_prolonged(const tables& named, kept_in where, const std::vector<held_row>& rows,
                           duration lease_time) {
    if (rows.empty())
        return "DO 0";
    return "UPDATE " + table_of(named, where) + " SET expires=GREATEST(expires," +
           end_of(lease_time) + ") WHERE " + any_of(where, rows);
}

std::string rows_seen(const tables& named, kept_in where, const std::vector<held_row>& rows) {
    return "SELECT name,owner,TIMESTAMPDIFF(MICROSECOND," + std::string{now_text} +
           ",expires) FROM " + table_of(named, where) + " WHERE " + any_of(where, rows);
}

} // namespace holdfast::mysql
