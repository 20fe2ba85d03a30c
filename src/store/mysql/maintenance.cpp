// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/maintenance.hpp"

#include "mysql/server_answers.hpp"
#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/mysql/lock_requests.hpp"
#include "store/mysql/renewal.hpp"
#include "store/mysql/sql.hpp"
#include "store/mysql/waiting.hpp"
#include "store/remote/diagnostics.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mysql {
namespace {

using std::chrono::microseconds;

/// Maximum number of attempts to take the doctor's trial lock, and to release it.
constexpr int repeats_max = 3;

finding trouble(const char* topic, const boost::system::system_error& why) {
    return {severity::danger, topic, net::story_of(why), why.code().message()};
}

/// Privilege that locks need on a table, with a statement that needs only this privilege and
/// changes no row.
struct needed_right {
    std::string_view verb;
    std::string table;
    std::string statement;
};

std::vector<needed_right> needed_rights(const tables& named) {
    std::vector<needed_right> all;
    const auto need = [&](std::string_view verb, const std::string& table, std::string statement) {
        all.push_back({verb, table, std::move(statement)});
    };
    for (const std::string* const each :
         {&named.locks, &named.holds, &named.counters, &named.requests}) {
        need("SELECT", *each, "SELECT 1 FROM " + *each + " WHERE FALSE");
        need("INSERT", *each, "INSERT INTO " + *each + " (name) SELECT '' FROM DUAL WHERE FALSE");
        need("DELETE", *each, "DELETE FROM " + *each + " WHERE FALSE");
        if (each != &named.requests) // requests: its rows are never updated
            need("UPDATE", *each, "UPDATE " + *each + " SET name='' WHERE FALSE");
    }
    need("SELECT", named.identity, "SELECT 1 FROM " + named.identity + " WHERE FALSE");
    return all;
}

/// Returns the privileges that the server refuses, such as "INSERT on `holdfast_lock`". The first
/// answer in `said` is skipped. The other answers belong to the statements of `all`.
std::string refused_among(const std::vector<needed_right>& all, const answers& said) {
    std::string refused;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const result& told = answer_at(said, i + 1);
        // Ignore an error that is not about privileges, for example "no default value" of a column.
        if (told.error == 0 || classify(told.error, told.words).code != store_errc::no_permission)
            continue;
        refused.append(refused.empty() ? "" : ", ").append(all[i].verb).append(" on ");
        refused.append(all[i].table);
    }
    return refused;
}

class examination {
public:
    examination(request_context& at, ask trial)
        : at_{at}
        , bells_{at}
        , lease_time_{trial.lease_time}
        , trial_{std::move(trial)}
        , how_{*verbs_of(trial_.kind)} {
        trial_.lease_time = std::min(lease_time_, 4 * at.server.command_timeout());
    }

    asio::awaitable<std::vector<finding>> run() {
        if (const bool reached = co_await reach(); !reached)
            co_return std::move(found_);
        if (const auto facts = at_.server.facts()) {
            std::ranges::move(judge(*facts), std::back_inserter(found_));
            judge_connections(*facts);
        }
        if (const bool taken = co_await take(); taken) {
            co_await renew();
            judge_bell();
        }
        if (may_hold_)
            co_await release();
        if (went_well_)
            co_await judge_rights();
        co_return std::move(found_);
    }

private:
    void add(severity how_bad, const char* topic, std::string what, std::string remedy = {}) {
        found_.push_back({how_bad, topic, std::move(what), std::move(remedy)});
    }

    asio::awaitable<bool> reach() {
        const auto make = [](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{"SELECT " + std::string{runs_text}};
        };
        composing text{make};
        try {
            co_await at_.server.run(text); // this first request makes the connection
            const answers said = co_await at_.server.run(text);
            found_.push_back(remote::judge_delay(said.received_at - said.sent_at, lease_time_));
            const microseconds shown{number_at(answer_at(said, 0).rows.at(0), 0)};
            found_.push_back(remote::judge_clock(shown));
            co_return true;
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("reach", why));
            co_return false;
        }
    }

    void judge_connections(const server_facts& it) {
        constexpr std::uint64_t usual_of_a_client = 12;
        if (it.connections_of_user_max != 0 && it.connections_of_user_max < usual_of_a_client)
            add(severity::warning, "connections",
                "This user may have at most " + std::to_string(it.connections_of_user_max) +
                    " connections, but a client uses up to " + std::to_string(usual_of_a_client) +
                    ".",
                "Lower connections_max and wait_connections_max in the URL, or raise the limit of "
                "the user: ALTER USER USERNAME WITH MAX_USER_CONNECTIONS NUMBER");
    }

    asio::awaitable<bool> take() {
        try {
            may_hold_ = true;
            taken got;
            for (int left = repeats_max; left > 0; --left) {
                take_terms limit{at_.context.time.now() + at_.server.command_timeout()};
                got = co_await how_.take(at_, trial_, std::move(limit));
                if (got.seen.said != verdict::late)
                    break; // the answer to a late attempt contains the server's time
                if (got.seen.clock)
                    got.seen.clock->learn(got.seen.sent_at, got.seen.received_at,
                                          got.seen.server_now);
            }
            may_hold_ = got.seen.said == verdict::granted;
            bell_ = got.bell;
            if (may_hold_)
                co_return true;
            found_.push_back(remote::trial_lock_is_held(trial_.name));
        } catch (const boost::system::system_error& why) {
            may_hold_ = why.code() == errc::outcome_unknown;
            found_.push_back(
                trouble(why.code() == store_errc::not_set_up ? "tables" : "rights", why));
        }
        co_return false;
    }

    asio::awaitable<void> renew() {
        const hold* const held[] = {&trial_};
        const renewal_options how{.lease_time = trial_.lease_time};
        single_renewal renewed;
        co_await renew_holds(at_, bells_, held, how, renewed);
        try {
            renewed_ = renewed.said().granted;
            if (!renewed_)
                found_.push_back(remote::trial_lock_was_lost(
                    "Find out what has deleted the row of the lock: another program, or an event "
                    "of the database."));
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("rights", why));
        }
    }

    void judge_bell() {
        if (bell_)
            add(severity::fine, "waking", "User locks (GET_LOCK) wake waiting clients.");
        else if (at_.server.has_bells())
            add(severity::note, "waking",
                "The user lock that wakes waiting clients could not be taken. Waiting clients poll "
                "instead.",
                "Find out whether another program uses user locks whose names begin with 'hf:'.");
        else
            add(severity::note, "waking",
                "holdfast does not use user locks on this server. Waiting clients poll instead.");
    }

    asio::awaitable<void> release() {
        for (int left = repeats_max; left > 0; --left) {
            try {
                const released outcome = co_await how_.release(at_, trial_, bell_);
                went_well_ = outcome.was_ours && renewed_;
                co_return;
            } catch (const boost::system::system_error& why) {
                if (left > 1 && why.code() != errc::refused && why.code() != errc::closed)
                    continue;
                found_.push_back(trouble("rights", why));
                co_return;
            }
        }
    }

    /// Checks each privilege on the tables. The trial lock is not enough, because it does not need
    /// all privileges. For example, it inserts no row if its row exists already.
    asio::awaitable<void> judge_rights() {
        const std::vector<needed_right> all = needed_rights(at_.named);
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            std::vector<std::string> texts{"DO 0"}; // decides the outcome; the others may fail
            for (const needed_right& each : all)
                texts.push_back(each.statement);
            return texts;
        };
        composing text{make};
        const call_options options{.rest_is_hint = true};
        try {
            const answers said = co_await at_.server.run(text, options);
            const std::string refused = refused_among(all, said);
            if (refused.empty())
                found_.push_back(remote::trial_went_well(trial_.name));
            else
                add(severity::danger, "rights", "This user lacks these rights: " + refused + ".",
                    "Grant the missing rights. docs/security/mysql.md contains the statements.");
        } catch (const boost::system::system_error& why) {
            found_.push_back(trouble("rights", why));
        }
    }

    request_context& at_;
    wakeup_locks bells_;
    const duration lease_time_;
    ask trial_;
    const verbs& how_;
    std::shared_ptr<pinned_connection> bell_;
    bool may_hold_ = false, renewed_ = false;
    bool went_well_ = false; ///< true: the lock was taken, renewed and released
    std::vector<finding> found_;
};

} // namespace

asio::awaitable<std::vector<finding>> examine_server(request_context& at, ask trial) {
    examination all{at, std::move(trial)};
    co_return co_await all.run();
}

namespace {

using findings = std::vector<finding>;

void add(findings& all, severity how_bad, const char* topic, std::string what,
         std::string remedy = {}) {
    all.push_back({how_bad, topic, std::move(what), std::move(remedy)});
}

void judge_role(findings& all, const server_facts& it) {
    if (it.read_only)
        add(all, severity::danger, "role", "The server accepts no writes, so it grants no locks.",
            "Use the address of the primary, or the addresses of all servers. The client then uses "
            "the server that accepts writes.");
    else if (it.is_replica)
        add(all, severity::danger, "role",
            "The server is a replica that accepts writes. It can grant a lock while its primary "
            "grants the same lock to another client.",
            "Use the address of the primary, and set in the configuration of each replica: "
            "read_only = ON");
    else if (it.has_several_writers)
        add(all, severity::note, "role",
            "Each server of this cluster accepts writes. Locks work, but each server has its own "
            "user locks, so waiting clients poll.",
            "In a cluster with one primary, user locks wake the waiting clients.");
    else
        add(all, severity::fine, "role", "The server is a primary.");
}

void judge_settings(findings& all, const server_facts& it) {
    if (it.sysdate_is_now)
        add(all, severity::danger, "settings",
            "The setting sysdate_is_now is on. The server then grants a lock to a request that "
            "arrives late, after its client has given up.",
            "Start the server without the option --sysdate-is-now");
    if (it.binlog_format == "STATEMENT")
        add(all, severity::danger, "settings",
            "The setting binlog_format is STATEMENT. Replicas then compute other fencing tokens "
            "and other ends of leases.",
            "Use the format ROW or MIXED. Set in the configuration of the server: binlog_format = "
            "ROW");
    if (it.strict_mode.find("STRICT_ALL_TABLES") == std::string::npos &&
        it.strict_mode.find("STRICT_TRANS_TABLES") == std::string::npos)
        add(all, severity::note, "settings",
            "The server's sql_mode is not strict. If other programs write to these tables, the "
            "server may cut names to 255 bytes. The sessions of holdfast are strict.",
            "Set in the configuration of the server: sql_mode = STRICT_TRANS_TABLES");
}

void judge_durability(findings& all, const server_facts& it) {
    if (it.flush_at_commit == "1")
        return add(all, severity::fine, "durability",
                   "A granted lock survives a crash of the server.");
    add(all, severity::warning, "durability",
        "The setting innodb_flush_log_at_trx_commit is " + it.flush_at_commit +
            ". A crash may lose the grants of the last second. Other clients can then get these "
            "locks.",
        "Set in the configuration of the server: innodb_flush_log_at_trx_commit = 1");
}

void judge_way(findings& all, const server_facts& it) {
    if (it.over_tls)
        return add(all, severity::fine, "tls", "The connection is encrypted.");
    add(all, severity::note, "tls",
        "The connection is not encrypted. An attacker on the network can read and change the data.",
        "If others use this network, add this parameter to the URL: tls=yes");
}

} // namespace

std::vector<finding> judge(const server_facts& it) {
    findings all;
    add(all, severity::fine, "version",
        (it.is_mariadb ? "The server is MariaDB " : "The server is MySQL ") + it.version + ".");
    judge_role(all, it);
    judge_settings(all, it);
    judge_durability(all, it);
    judge_way(all, it);
    return all;
}

namespace {

/// Returns a SELECT that counts the tables that exist already.
std::string tables_there(const request_context& at) {
    return "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema=DATABASE() AND "
           "table_name IN (" +
           hex(at.table) + "," + hex(at.table + "_hold") + "," + hex(at.table + "_counter") + "," +
           hex(at.table + "_request") + "," + hex(at.table + "_identity") + ")";
}

constexpr std::int64_t tables_in_all = 5;

asio::awaitable<answers> run_one(database& server, const std::string& statement) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{statement};
    };
    composing text{make};
    co_return co_await server.run(text);
}

/// Runs the last of the statements first: it inserts the row of the identity. This INSERT needs
/// more privileges than the CREATE statements, and the server checks them even if the table is
/// missing. So if the user lacks a privilege, no table is created.
asio::awaitable<void> try_last(database& server, const std::string& statement) {
    try {
        co_await run_one(server, statement);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::not_set_up)
            throw;
    }
}

asio::awaitable<std::vector<finding>> make_them(const request_context& at, database& server) {
    const std::string look = tables_there(at);
    const answers said = co_await run_one(server, look);
    const std::int64_t there = number_at(answer_at(said, 0).rows.at(0), 0);
    const std::vector<std::string> all = making(at.named);
    co_await try_last(server, all.back());
    // Send the statements one by one: each CREATE statement is its own transaction.
    for (const std::string& each : all)
        co_await run_one(server, each);
    const std::string names = at.named.locks + " and the tables whose names begin with this name";
    std::vector<finding> told(1);
    told.front().topic = "tables";
    told.front().what = there == tables_in_all
                            ? "All tables for locks exist already (" + names + ")."
                            : std::to_string(tables_in_all - there) + " of " +
                                  std::to_string(tables_in_all) +
                                  " tables for locks were created (" + names + ").";
    co_return told;
}

} // namespace

asio::awaitable<std::vector<finding>> make_tables(const request_context& at, database& server) {
    std::optional<net::failure> refused;
    try {
        std::vector<finding> told = co_await make_them(at, server);
        co_return told;
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::no_permission)
            throw;
        refused.emplace(why.code(), net::story_of(why) +
                                        "; to create the tables for locks, the user needs the "
                                        "rights CREATE, SELECT and INSERT in the schema " +
                                        at.schema);
    }
    throw net::failure{*refused};
}

namespace {

constexpr duration between_sweeps = std::chrono::minutes{10};
constexpr std::size_t rows_in_step = 500;

/// Maximum number of steps of one sweep, which deletes unused rows. The next sweep deletes the
/// rest.
constexpr int steps_max = 1000;

const std::string day_ago = std::string{now_text} + "-INTERVAL 1 DAY";

} // namespace

std::string unused_names(const tables& named, const std::string& behind) {
    return "SELECT name FROM " + named.locks + " WHERE name>" + hex(behind) + " AND expires<" +
           day_ago + " ORDER BY name LIMIT " + std::to_string(rows_in_step);
}

// Delete the rows by their primary key, so that the server locks no other rows.
std::vector<std::string> unused_deleted(const tables& named,
                                        const std::vector<std::string>& names) {
    const std::string old = " AND expires<" + day_ago;
    std::vector<std::string> all;
    if (!names.empty())
        all.push_back("DELETE FROM " + named.locks + " WHERE name IN " + list_of(names) + old);
    all.push_back("DELETE FROM " + named.holds + " WHERE expires<" + day_ago + " LIMIT " +
                  std::to_string(rows_in_step));
    all.push_back("DELETE FROM " + named.requests + " WHERE expires<" + day_ago + " LIMIT " +
                  std::to_string(rows_in_step));
    return all;
}

void sweep::start() {
    runtime::run_in_background(at_.context, loop(shared_from_this()));
}

void sweep::stop() noexcept {
    stopped_ = true;
    sleep_->ring();
}

asio::awaitable<void> sweep::loop(std::shared_ptr<sweep> self) {
    while (!self->stopped_) {
        co_await self->sleep_->wait_until(self->at_.context.time.now() + between_sweeps);
        if (self->stopped_)
            break;
        try {
            co_await self->once();
        } catch (const boost::system::system_error&) {
            // Ignore the error. The next sweep, in ten minutes, tries again.
        }
    }
}

asio::awaitable<void> sweep::once() {
    std::string behind;
    for (int step = 0; step < steps_max && !stopped_; ++step) {
        const auto ask = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{unused_names(at_.named, behind)};
        };
        composing asking{ask};
        const answers said = co_await at_.server.run(asking);
        std::vector<std::string> names;
        for (const auto& row : answer_at(said, 0).rows)
            names.push_back(text_at(row, 0));
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return unused_deleted(at_.named, names);
        };
        composing deleting{make};
        if (stopped_)
            co_return;
        co_await at_.server.run(deleting);
        if (names.size() < rows_in_step)
            co_return;
        behind = names.back();
    }
}

} // namespace holdfast::mysql
