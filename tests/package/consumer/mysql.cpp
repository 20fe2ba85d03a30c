// SPDX-License-Identifier: Apache-2.0
// The smallest program that uses the MySQL component. No server listens at its address, so its call
// reports an error.
#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/options.hpp>

#include <cstring>
#include <iostream>

int main() {
    holdfast::mysql::add_schemes();
    holdfast::client client{"mysql://127.0.0.1:1/shop?unavailable_timeout=0s"};
    holdfast::mutex stock{client, "stock"};
    try {
        stock.lock();
    } catch (const boost::system::system_error& failure) {
        std::cout << failure.what() << '\n';
        return failure.code() == holdfast::errc::unreachable &&
                       std::strstr(failure.what(), "127.0.0.1") != nullptr
                   ? 0
                   : 1;
    }
    return 1;
}
