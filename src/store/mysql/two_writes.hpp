// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// A transaction in two writes. The first write locks rows and reads them; the second writes what
/// the client made of them. In between the server waits for the client only three seconds, so a
/// frozen process does not block others for long.
class two_writes {
public:
    /// `wishes` apply to both writes.
    explicit two_writes(site& at, call_wishes wishes = {});

    /// Begins the transaction, and returns the answers to these statements.
    asio::awaitable<answers> begin(std::vector<std::string> reading);

    /// Ends the transaction on the same connection. `writing` returns the statements, and is called
    /// when they are sent; it may return none.
    using maker = std::function<std::vector<std::string>(const runtime::remote_clock&)>;
    asio::awaitable<answers> end(maker writing);

private:
    site& at_;
    const call_wishes wishes_;
    std::shared_ptr<carrier> on_;
    bool is_mariadb_ = false;
    duration idle_limit_{}; // usual idle timeout of the session
};

} // namespace holdfast::mysql
