// SPDX-License-Identifier: Apache-2.0
// The smallest program that a user could write. It must compile, link and take a lock.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

int main() {
    holdfast::client client{holdfast::options{.url = "memory:package-test"}};
    holdfast::mutex stock{client, "stock"};
    std::scoped_lock held{stock};
    std::cout << "held with holdfast " << HOLDFAST_VERSION_STRING << '\n';
}
