// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mysql_store.hpp"

#include "mysql/database.hpp"
#include "mysql/libmariadb.hpp"
#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/mysql/renewal.hpp"
#include "store/mysql/request_context.hpp"

namespace holdfast::mysql {

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<database> server = make_database(how, context);
        return std::make_unique<mysql_store>(std::move(server), how, std::move(context));
    };
}

std::optional<std::string> objection_to_name(const lock_name& name) {
    if (name.text.empty())
        return "the name is empty";
    if (name.text.size() > name_bytes_most)
        return "the name has " + std::to_string(name.text.size()) + " bytes, and " +
               std::to_string(name_bytes_most) + " are allowed in a table";
    return std::nullopt;
}

std::unique_ptr<place> mysql_locks::line_up(ask want, alarm& wake) {
    return std::make_unique<lock_place>(at_, bells_, poller_, busy_, std::move(want), wake);
}

asio::awaitable<void> mysql_locks::renew(hold_list holds, const renewal_options& how,
                                         renewal_sink& to) {
    return renew_holds(at_, bells_, holds, how, to);
}

asio::awaitable<release_answer> mysql_locks::release(hold held) {
    std::shared_ptr<pinned_connection> bell = bells_.take_out(held);
    const released outcome = co_await verbs_of(held.kind)->release(at_, held, std::move(bell));
    co_return release_answer{outcome.was_ours, outcome.others_wait};
}

bool mysql_locks::transfers(lock_kind kind) const noexcept {
    const verbs* const how = verbs_of(kind);
    return how && how->where == kept_in::locks;
}

asio::awaitable<answer> mysql_locks::transfer(hold what, owner_id to, duration lease_time) {
    ask wanted{what.name, to, what.kind};
    wanted.lease_time = lease_time;
    remote::attempts::sender send = [&](time_point deadline) {
        return move_hold(at_, what, wanted, deadline);
    };
    co_return co_await remote::look_once(at_.context, wanted, at_.server.command_timeout(),
                                         std::move(send));
}

namespace {

net::failure with_advice(const boost::system::system_error& why, const tables& named) {
    std::string text = net::story_of(why);
    if (why.code() == store_errc::not_set_up)
        text += "; `holdfast doctor --create-tables` makes the tables of locks, and so do these "
                "statements:\n" +
                ddl(named);
    if (why.code() == store_errc::no_permission)
        text += "; grant SELECT, INSERT, UPDATE, DELETE on the tables of locks (" + named.locks +
                ", " + named.holds + ", " + named.counters + ", " + named.requests + ", " +
                named.identity + ")";
    return {why.code(), std::move(text)};
}

server_identity identity_in(const std::vector<std::optional<std::string>>& told) {
    server_identity read{.id = text_at(told, 0)};
    if (text_at(told, 1) == "1")
        read.forgets_before = time_point::min();
    return read;
}

} // namespace

asio::awaitable<answers> guarded_database::run(statements& what, call_options options) {
    std::optional<net::failure> refused;
    try {
        answers said = co_await inner_->run(what, std::move(options));
        ask_for_identity(said.server);
        co_return said;
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::not_set_up && why.code() != store_errc::no_permission)
            throw;
        refused.emplace(with_advice(why, named_));
    }
    throw net::failure{*refused};
}

/// Reads the identity of the server's data again if the server's address has changed, because
/// another server may have other data.
void guarded_database::ask_for_identity(const std::string& server) {
    if (asked_ == server)
        return;
    asked_ = server;
    runtime::run_in_background(context_, read_identity(shared_from_this()));
}

asio::awaitable<void> guarded_database::read_identity(std::shared_ptr<guarded_database> self) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{"SELECT id,@@innodb_flush_log_at_trx_commit FROM " +
                                        self->named_.identity};
    };
    composing text{make};
    try {
        const answers said = co_await self->inner_->run(text);
        if (!answer_at(said, 0).rows.empty())
            self->identity_ = identity_in(said.of.front().rows.front());
    } catch (const boost::system::system_error&) {
        self->asked_.clear(); // the next request reads the identity again
    }
}

namespace {

bool is_local(const store_url& url) {
    return url.scheme().ends_with("+unix");
}

std::string socket_of(const store_url& url) {
    const std::string example = url.scheme() + ":///run/mysqld/mysqld.sock?database=SCHEMA";
    if (url.names_servers())
        url.refuse("a unix socket has no host; its path begins at the third slash, as in " +
                   example);
    if (url.path().size() < 2 || url.path()[0] != '/')
        url.refuse("it names no socket; give the absolute path of the socket, as in " + example);
    return url.path();
}

/// Returns the schema in the URL's path, or an empty text if the path has no schema.
std::string schema_in_path(const store_url& url) {
    const std::vector<std::string>& segments = url.segments();
    const std::size_t used =
        segments.empty() || !segments.back().empty() ? segments.size() : segments.size() - 1;
    if (used > 1)
        url.refuse("after the hosts, only a '/' and the schema (the database) may follow; in its "
                   "name, write '/' as %2F");
    return used == 0 ? std::string{} : segments.front();
}

void read_schema(store_url& url, options& how) {
    if (!is_local(url))
        how.schema = schema_in_path(url);
    const auto database = url.given("database");
    if (database && !how.schema.empty())
        url.refuse("the database is given twice, in the path and as a parameter");
    if (database)
        how.schema = *database;
    if (how.schema.empty())
        url.refuse("it names no schema (the database that has the tables); give it after the "
                   "hosts, as in " +
                   url.scheme() +
                   (is_local(url) ? ":///run/mysqld/mysqld.sock?database=SCHEMA"
                                  : "://127.0.0.1:3306/SCHEMA"));
}

} // namespace

options read_url(store_url& url) {
    options how;
    if (is_local(url))
        how.unix_socket = socket_of(url);
    else
        how.servers = url.servers(url.scheme() + "://127.0.0.1:3306/SCHEMA");
    how.user = url.user();
    how.password = url.password();
    how.credentials = url.credentials();
    url.read("connect_timeout", how.connect_timeout);
    url.read("command_timeout", how.command_timeout);
    read_schema(url, how);
    url.read("table", how.table);
    url.read("connections_max", how.connections_max);
    url.read("wait_connections_max", how.wait_connections_max);
    url.read("bell", how.bell);
    url.read("keep_alive", how.keep_alive);
    url.read("sweep", how.sweep);
    if (!is_local(url)) { // nobody can intercept traffic on a unix socket
        url.read("server_key_file", how.server_key_file);
        url.read_tls(how.tls);
    }
    url.refuse_unknown();
    return how;
}

namespace {

store_factory store_at(store_url& url) {
    options how = read_url(url);
    if (const std::string objection = objection_to_library(); !objection.empty())
        url.refuse(objection);
    return make_store(std::move(how));
}

} // namespace

void add_schemes() {
    for (const char* scheme : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"})
        add_store_scheme(scheme, store_at);
}

} // namespace holdfast::mysql
