// SPDX-License-Identifier: Apache-2.0
#include <holdfast/counters.hpp>
#include <holdfast/error.hpp>
#include <holdfast/store.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast {

const char* words_for(lock_kind kind) noexcept {
    switch (kind) {
    case lock_kind::read:
    case lock_kind::write:
        return "a read-write lock";
    case lock_kind::token:
        return "a token lock";
    case lock_kind::permit:
        return "a leased semaphore";
    case lock_kind::plain:
    case lock_kind::spin:
    case lock_kind::fenced:
    case lock_kind::fair:
        break;
    }
    return "a mutex";
}

const char* words_for(counter_kind kind) noexcept {
    switch (kind) {
    case counter_kind::permits:
        return "a leased semaphore";
    case counter_kind::latch:
        return "a latch";
    case counter_kind::rate:
        return "a rate limiter";
    case counter_kind::semaphore:
        break;
    }
    return "a semaphore";
}

void throw_wrong_type(std::string_view there, std::string_view wanted) {
    std::string text{there};
    text.append(" has this name, and ").append(wanted).append(" was asked for");
    throw boost::system::system_error{make_error_code(store_errc::wrong_type), text};
}

} // namespace holdfast
