// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Meaning of an error of the server or of libmariadb, for the code that sent the statement.
struct meaning {
    /// Code for the caller. `unreachable` and all refusals mean that nothing was carried out.
    error_code code;
    bool again = false; ///< a conflict with another transaction; try again
    bool leave = false; ///< this server accepts no writes; try another server
    bool cut = false;   ///< the connection cannot be used any more
    std::string hint{}; ///< advice for the user, shown after the server's text; empty: none
};

/// Classifies an error by its number. Reads the text only if the number has several meanings.
meaning classify(unsigned error, std::string_view words);

/// Classifies an error that occurred while connecting. No statement was sent yet, so the outcome is
/// never unknown.
meaning classify_connecting(unsigned error, std::string_view words);

/// Makes a failure. Its text contains the error number, the server's text and the advice.
net::failure failure_of(const meaning&, unsigned error, std::string_view words);

} // namespace holdfast::mysql
