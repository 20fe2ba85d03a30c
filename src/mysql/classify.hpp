// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// What an error of the server, or of libmariadb, means to whoever asked.
struct meaning {
    error_code code;    ///< unreachable and refused: nothing was done
    bool again = false; ///< two were in each other's way: it is asked once more
    bool leave = false; ///< this server takes no writes: another one may
    bool cut = false;   ///< the connection is of no use any more
    std::string hint{}; ///< for people, behind the server's own words; empty: none
};

/// Told by the number; by the words only where the number says too little.
meaning classify(unsigned error, std::string_view words);

/// The same while connecting: nothing was asked yet, so nothing is unknown.
meaning classify_connecting(unsigned error, std::string_view words);

/// With the number and the server's words, and what to do about it.
net::failure failure_of(const meaning&, unsigned error, std::string_view words);

} // namespace holdfast::mysql
