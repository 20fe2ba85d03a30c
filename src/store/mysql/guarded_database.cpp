// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/guarded_database.hpp"

#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/mysql/schema.hpp"
#include "store/mysql/site.hpp"

namespace holdfast::mysql {
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

asio::awaitable<answers> guarded_database::run(statements& what, call_wishes wishes) {
    std::optional<net::failure> refused;
    try {
        answers said = co_await inner_->run(what, std::move(wishes));
        ask_for_identity(said.server);
        co_return said;
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::not_set_up && why.code() != store_errc::no_permission)
            throw;
        refused.emplace(with_advice(why, named_));
    }
    throw net::failure{*refused};
}

/// Reads the identity again if the server's address has changed. Another server may have other
/// data.
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
        self->asked_.clear(); // the next request then asks again
    }
}

} // namespace holdfast::mysql
