// SPDX-License-Identifier: Apache-2.0
#include "bench/server/site.hpp"

#include <stdexcept>

namespace holdfast::bench {
namespace {

std::vector<connection> connect_to_first(const site& where, std::size_t count) {
    std::vector<connection> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(connect_to(where.ports.at(i)));
    return made;
}

} // namespace

connection connect_to(std::uint16_t port) {
    connection made{redisConnect("127.0.0.1", port)};
    if (!made || made->err)
        throw std::runtime_error{std::string{"connecting: "} + (made ? made->errstr : "no memory")};
    return made;
}

std::vector<connection> connect_to_all(const site& where) {
    return connect_to_first(where, where.ports.size());
}

std::vector<connection> connect_to_primaries(const site& where) {
    return connect_to_first(where, where.primaries);
}

} // namespace holdfast::bench
