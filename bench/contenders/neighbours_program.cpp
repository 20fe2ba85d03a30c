// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/neighbours_program.hpp"

#include "bench/contenders/redisson.hpp"

#include <cstdlib>

namespace holdfast::bench {

std::string program_of_neighbour(const std::string& name) {
    const char* const given = std::getenv("HOLDFAST_NEIGHBOURS");
    const std::string all = std::string{";"} + (given ? given : "") + ";";
    const std::string label = ";" + name + "=";
    const std::size_t found = all.find(label);
    if (found == all.npos)
        throw not_here{"no " + name + ": ./dev bench says what it misses"};
    const std::size_t begin = found + label.size();
    return all.substr(begin, all.find(';', begin) - begin);
}

} // namespace holdfast::bench
