// SPDX-License-Identifier: Apache-2.0
// In place of databases.cpp and database/ where there is no libmariadb.
#include "bench/contests.hpp"

namespace holdfast::bench {

std::vector<contest> about_databases() {
    return {};
}

std::vector<standstill> standstills_at_databases() {
    return {};
}

} // namespace holdfast::bench
