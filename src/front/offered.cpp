// SPDX-License-Identifier: Apache-2.0
#include "front/offered.hpp"

#include <string_view>

namespace holdfast::front {
namespace {

constexpr std::string_view redis_alone = "Redis and Valkey have them";
constexpr std::string_view all_stores = "Redis, Valkey, MySQL, MariaDB and ZooKeeper have them";

std::string words(std::string_view kind, std::string_view where) {
    return "the store of this client has no " + std::string{kind} + "; " + std::string{where} +
           " (docs/stores.md)";
}

} // namespace

std::string words_on_missing(lock_kind kind) {
    switch (kind) {
    case lock_kind::spin:
        return words("spin locks", redis_alone);
    case lock_kind::token:
        return words("locks with tokens of redis-py", redis_alone);
    case lock_kind::fair:
        return words("fair locks", all_stores);
    case lock_kind::read:
    case lock_kind::write:
        return words("locks that can be shared", all_stores);
    case lock_kind::fenced:
        return words("fenced locks", all_stores);
    case lock_kind::permit:
        return words("semaphores with leases", all_stores);
    case lock_kind::plain:
        break;
    }
    return words("plain locks", all_stores);
}

std::string words_on_missing(counter_kind kind) {
    switch (kind) {
    case counter_kind::permits:
        return words("semaphores with leases", all_stores);
    case counter_kind::latch:
        return words("latches", "Redis, Valkey, MySQL and MariaDB have them");
    case counter_kind::rate:
        return words("rate limiters", redis_alone);
    case counter_kind::semaphore:
        break;
    }
    return words("semaphores without leases", redis_alone);
}

} // namespace holdfast::front
