// SPDX-License-Identifier: Apache-2.0
// A lock that is part of a transaction of yours, in the same database of MySQL or MariaDB: what the
// transaction writes is written while the lock is held, or not at all.
//
//     17_lock_in_a_transaction mysql://app:secret@127.0.0.1/shop
//
// The tables of the locks are made before, once: holdfast doctor --create-tables. Without an
// address it uses a store in its own memory, and only shows the statements.
#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/nail.hpp>
#include <holdfast/mysql/options.hpp>

#include <boost/asio/use_future.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// Yours: sends a statement over your own connection to that database, and returns how many rows it
// found. This one only shows it.
int run(const std::string& statement) {
    std::cout << "    " << statement << ";\n";
    return 1;
}

bool sell(holdfast::mutex& stock) {
    holdfast::lease held = stock.async_lock(holdfast::asio::use_future).get();
    run("START TRANSACTION");
    if (run(holdfast::mysql::nail(held)) != 1) { // the lease is over: somebody else may have it
        run("ROLLBACK");
        return false;
    }
    // From here on nobody else gets the lock before this transaction ends, whatever its lease does.
    run("UPDATE stock SET count = count - 1 WHERE id = 42");
    run("COMMIT"); // before the unlock, which waits behind the nail
    held.unlock();
    return true;
}

} // namespace

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const std::string url = count > 1 ? values[1] : environment ? environment : "memory:nail";

    holdfast::mysql::add_schemes(); // mysql://, mariadb:// are URLs from now on
    holdfast::client client{url};
    holdfast::mutex stock{client, "stock:42"};
    const bool sold = sell(stock);
    std::cout << (sold ? "Sold, under the lock.\n" : "The lease was over: nothing was written.\n");
    return sold ? 0 : 1;
}
