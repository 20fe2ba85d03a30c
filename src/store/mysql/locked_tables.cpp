// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/locked_tables.hpp"

#include "net/failure.hpp"

namespace holdfast::mysql {

// Sends an UPDATE that changes no row. The UPDATE waits for table locks, but not for row locks. The
// shortest lock wait timeout in MySQL is one second.
asio::awaitable<void> refuse_locked_tables(site& at, const answers& said, std::size_t update_at) {
    if (answer_at(said, update_at).error == 0)
        co_return;
    constexpr std::size_t write_at = 1;
    const auto make = [&](const runtime::remote_clock&, const server_facts& facts) {
        return std::vector<std::string>{
            std::string{"SET SESSION lock_wait_timeout="} + (facts.is_mariadb ? "0" : "1"),
            "UPDATE " + at.named.locks + " SET touched=touched WHERE FALSE",
            "SET SESSION lock_wait_timeout=2"};
    };
    composing text{make};
    call_wishes wishes{.may_meet_lock = write_at};
    const answers told = co_await at.server.run(text, wishes);
    if (answer_at(told, write_at).error != 0)
        throw net::failure{store_errc::try_again,
                           "the tables of locks are locked against writes, by FLUSH TABLES WITH "
                           "READ LOCK or LOCK TABLES, as a backup does"};
}

} // namespace holdfast::mysql
