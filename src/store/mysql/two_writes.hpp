// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// A transaction whose first write locks rows and reads them, and whose second one writes what is
/// made of that. In between the server waits seconds for this client, and not hours: a process that
/// freezes there does not block others for long.
class two_writes {
public:
    /// `wishes`: of each of the two.
    explicit two_writes(site& at, call_wishes wishes = {});

    /// The answers to these statements.
    asio::awaitable<answers> begin(std::vector<std::string> reading);

    /// On the same connection. `writing`: the statements, asked for when they are to go out; none,
    /// if nothing is to be written.
    using maker = std::function<std::vector<std::string>(const runtime::remote_clock&)>;
    asio::awaitable<answers> end(maker writing);

private:
    site& at_;
    const call_wishes wishes_;
    std::shared_ptr<carrier> on_;
    bool is_mariadb_ = false;
    duration idle_limit_{}; // of the session, at other times
};

} // namespace holdfast::mysql
