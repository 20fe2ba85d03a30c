// SPDX-License-Identifier: Apache-2.0
// For tests whose processes meet at one real server.
#pragma once

#include "process/child.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::process {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;

/// What all of them use, and what they leave alone.
inline options quick(const std::string& url) {
    return {.url = url, .close_patience = 0ms, .poll_bound = 25ms};
}

class with_server : public testing::Test {
protected:
    explicit with_server(support::redis_server::options how = {})
        : how_{std::move(how)} {
        how_.own_clock = true;
    }
    void SetUp() override;

    support::redis_server& server() { return *server_; }
    std::string url() const { return server_->url(); }

    /// The server's date passes the end of every lease of the default length.
    void outlive_leases() { server().step_clock(options{}.lease_time + 1s); }

    bool is_free(const std::string& name);
    bool is_renewed(const std::string& name); ///< waits until it is
    bool is_waited_for(const std::string& name);
    /// How many scripts it was asked to run until now.
    std::int64_t scripts_asked();
    /// Who is connected, by the server's numbers; but for the one who asks.
    std::set<std::string> connections();

private:
    support::redis_server::options how_;
    std::optional<support::redis_server> server_;
};

} // namespace holdfast::process
