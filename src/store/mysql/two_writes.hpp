// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// A transaction in two writes. The first write locks and reads rows. The client computes new
/// values, and the second write stores them. Between the writes the server waits for the client at
/// most three seconds, so a frozen process does not block other clients for long.
class two_writes {
public:
    /// `wishes` apply to both writes.
    explicit two_writes(site& at, call_wishes wishes = {});

    /// Begins the transaction with the statements `reading`, and returns their answers.
    asio::awaitable<answers> begin(std::vector<std::string> reading);

    /// Ends the transaction on the same connection. `writing` returns the statements; it is called
    /// just before they are sent. It may return an empty list.
    using maker = std::function<std::vector<std::string>(const runtime::remote_clock&)>;
    asio::awaitable<answers> end(maker writing);

private:
    site& at_;
    const call_wishes wishes_;
    std::shared_ptr<carrier> on_;
    bool is_mariadb_ = false;
    duration idle_limit_{}; // the session's usual idle timeout
};

} // namespace holdfast::mysql
