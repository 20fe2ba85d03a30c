// SPDX-License-Identifier: Apache-2.0
// A lock that is tied to your own transaction, in the same MySQL or MariaDB database. The
// transaction is committed while the lock is held, or not at all.
//
//     17_lock_in_a_transaction mysql://app:secret@127.0.0.1/shop
//
// Create the tables of the locks once before: holdfast doctor --create-tables. Without a URL, the
// example uses a store in its own memory, and only prints the statements.
#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/options.hpp>
#include <holdfast/mysql/transaction_guard.hpp>

#include <boost/asio/use_future.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// Replace this function: it should send a statement over your own connection to that database, and
// return the number of matched rows. This version only prints the statement.
int run(const std::string& statement) {
    std::cout << "    " << statement << ";\n";
    return 1;
}

bool sell(holdfast::mutex& stock) {
    holdfast::lease held = stock.async_lock(holdfast::asio::use_future).get();
    run("START TRANSACTION");
    // The lease has ended: another client may have the lock.
    if (run(holdfast::mysql::transaction_guard(held)) != 1) {
        run("ROLLBACK");
        return false;
    }
    // From here on, nobody else gets the lock before this transaction ends, even if the lease
    // expires.
    run("UPDATE stock SET count = count - 1 WHERE id = 42");
    run("COMMIT"); // commit before unlock: the release waits for the end of the transaction
    held.unlock();
    return true;
}

} // namespace

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const std::string url = count > 1 ? values[1] : environment ? environment : "memory:shop";

    holdfast::mysql::add_schemes(); // registers mysql:// and mariadb://
    holdfast::client client{url};
    holdfast::mutex stock{client, "stock:42"};
    const bool sold = sell(stock);
    std::cout << (sold ? "Sold, under the lock.\n" : "The lease was over: nothing was written.\n");
    return sold ? 0 : 1;
}
